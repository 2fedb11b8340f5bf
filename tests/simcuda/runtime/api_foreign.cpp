// SPDX-License-Identifier: Apache-2.0
// Memory of other APIs.
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {

status cudaImportExternalMemory(external_memory** out, const external_memory_description* wanted) {
  return driver().cuImportExternalMemory(out, wanted);
}

status cudaExternalMemoryGetMappedBuffer(void** out, external_memory* from, const external_buffer_description* wanted) {
  return driver().cuExternalMemoryGetMappedBuffer(reinterpret_cast<device_ptr*>(out), from, wanted);
}

status cudaDestroyExternalMemory(external_memory* target) { return driver().cuDestroyExternalMemory(target); }

status cudaGraphicsGLRegisterBuffer(graphics_resource** out, unsigned buffer, unsigned flags) {
  return driver().cuGraphicsGLRegisterBuffer(out, buffer, flags);
}

status cudaGraphicsGLRegisterImage(graphics_resource** out, unsigned image, unsigned target, unsigned flags) {
  return driver().cuGraphicsGLRegisterImage(out, image, target, flags);
}

status cudaGraphicsEGLRegisterImage(graphics_resource** out, void* image, unsigned flags) {
  return driver().cuGraphicsEGLRegisterImage(out, image, flags);
}

status cudaGraphicsVDPAURegisterVideoSurface(graphics_resource** out, unsigned surface, unsigned flags) {
  return driver().cuGraphicsVDPAURegisterVideoSurface(out, surface, flags);
}

status cudaGraphicsVDPAURegisterOutputSurface(graphics_resource** out, unsigned surface, unsigned flags) {
  return driver().cuGraphicsVDPAURegisterOutputSurface(out, surface, flags);
}

status cudaGraphicsUnregisterResource(graphics_resource* target) {
  return driver().cuGraphicsUnregisterResource(target);
}

status cudaGraphicsMapResources(int count, graphics_resource** list, stream* queue) {
  if (count < 0) return status::invalid_value;
  return driver().cuGraphicsMapResources(static_cast<unsigned>(count), list, queue);
}

status cudaGraphicsUnmapResources(int count, graphics_resource** list, stream* queue) {
  if (count < 0) return status::invalid_value;
  return driver().cuGraphicsUnmapResources(static_cast<unsigned>(count), list, queue);
}

status cudaGraphicsResourceSetMapFlags(graphics_resource* target, unsigned flags) {
  return driver().cuGraphicsResourceSetMapFlags_v2(target, flags);
}

status cudaGraphicsResourceGetMappedPointer(void** out, std::size_t* bytes, graphics_resource* from) {
  return driver().cuGraphicsResourceGetMappedPointer_v2(reinterpret_cast<device_ptr*>(out), bytes, from);
}

status cudaGraphicsResourceGetMappedMipmappedArray(mipmapped_array** out, graphics_resource* from) {
  return driver().cuGraphicsResourceGetMappedMipmappedArray(out, from);
}

status cudaGraphicsSubResourceGetMappedArray(device_array** out, graphics_resource* from, unsigned index,
                                             unsigned level) {
  return driver().cuGraphicsSubResourceGetMappedArray(out, from, index, level);
}

}  // namespace simcuda::runtime_api
