// Memory of other processes and interfaces.
#include <sys/mman.h>
#include <unistd.h>

#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

void between_processes() {
  constexpr unsigned for_other_processes = 6;
  ipc_handle handle{};
  const auto block = cuda.get<Pointer>("cuMemAlloc_v2", "to share", std::size_t{6007});
  cuda.call("cuIpcGetMemHandle", "usual", &handle, block);
  cuda.call("cuIpcGetMemHandle", "of nothing", &handle, Pointer{0x1234567});
  for (const char* symbol : {"cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2"})
    cuda.get<Pointer>(symbol, "of the same process", handle, 1u);
  cuda.call("cuIpcCloseMemHandle", "never opened", block);
  cuda.call("cuMemFree_v2", "usual", block);
  const auto event = cuda.get<Handle>("cuEventCreate", "to share", for_other_processes);
  cuda.call("cuIpcGetEventHandle", "usual", &handle, event);
  const auto opened = cuda.get<Handle>("cuIpcOpenEventHandle", "usual", handle);
  cuda.get<Handle>("cuIpcOpenEventHandle", "no handle", ipc_handle{});
  cuda.release("cuEventDestroy_v2", opened);
  cuda.release("cuEventDestroy", event);
}

void external_memory_of_others() {
  constexpr int opaque_descriptor = 1;
  external_memory_description about{};
  about.type = opaque_descriptor, about.bytes = 1 << 20;
  about.descriptor = memfd_create("external", 0);
  if (ftruncate(about.descriptor, 1 << 20) != 0) std::exit(3);
  external_buffer_description part{4096, 7001, 0, {}}, beyond{1 << 20, 7001, 0, {}};
  external_array_description image{0, {16, 16, 0, 1, 1, 0}, 1, {}};
  const auto external = cuda.get<Handle>("cuImportExternalMemory", "usual", &about);
  const auto buffer = cuda.get<Pointer>("cuExternalMemoryGetMappedBuffer", "usual", external, &part);
  cuda.get<Pointer>("cuExternalMemoryGetMappedBuffer", "beyond the end", external, &beyond);
  const auto levels = cuda.get<Handle>("cuExternalMemoryGetMappedMipmappedArray", "usual", external, &image);
  cuda.release("cuMipmappedArrayDestroy", levels);
  cuda.release("cuMemFree_v2", buffer);
  cuda.release("cuDestroyExternalMemory", external);
}

void mapped_by(const char* map, const char* unmap, Handle resource) {
  std::size_t bytes = 0;
  cuda.call("cuGraphicsResourceGetMappedPointer_v2", "before it is mapped", Handle{}, &bytes, resource);
  for (const char* time : {"usual", "again"}) cuda.call(map, time, 1u, &resource, no_stream);
  cuda.get<Pointer>("cuGraphicsResourceGetMappedPointer_v2", "usual", &bytes, resource);
  cuda.get<Pointer>("cuGraphicsResourceGetMappedPointer_v2", "without the size", Handle{}, resource);
  for (const char* time : {"usual", "again"}) cuda.call(unmap, time, 1u, &resource, no_stream);
}

void graphics() {
  const auto buffer = cuda.get<Handle>("cuGraphicsGLRegisterBuffer", "usual", 1u, 0u);
  mapped_by("cuGraphicsMapResources", "cuGraphicsUnmapResources", buffer);
  mapped_by("cuGraphicsMapResources_ptsz", "cuGraphicsUnmapResources_ptsz", buffer);
  const Handle resources[] = {buffer, cuda.get<Handle>("cuGraphicsGLRegisterImage", "usual", 1u, 1u, 0u),
                              cuda.get<Handle>("cuGraphicsEGLRegisterImage", "usual", Handle{}, 0u),
                              cuda.get<Handle>("cuGraphicsVDPAURegisterVideoSurface", "usual", 1u, 0u),
                              cuda.get<Handle>("cuGraphicsVDPAURegisterOutputSurface", "usual", 1u, 0u)};
  for (const Handle resource : resources) cuda.release("cuGraphicsUnregisterResource", resource);
  cuda.get<Handle>("cuEventCreateFromEGLSync", "usual", Handle{}, 0u);
}

}  // namespace

void foreign_memory() {
  between_processes();
  external_memory_of_others();
  if (!Library::is_careful) graphics();
}
