// Memory of other processes and interfaces.
#include <sys/mman.h>
#include <unistd.h>

#include "driver/resource_types.h"
#include "runtime/types.h"
#include "runtime_themes.hpp"

using namespace simcuda;

namespace {

void between_processes() {
  constexpr unsigned for_other_processes = 6;
  ipc_handle handle{};
  const auto block = cuda.get<Handle>("cudaMalloc", "to share", std::size_t{6007});
  cuda.call("cudaIpcGetMemHandle", "usual", &handle, block);
  cuda.call("cudaIpcGetMemHandle", "of nothing", &handle, Handle{});
  cuda.get<Handle>("cudaIpcOpenMemHandle", "of the same process", handle, 1u);
  cuda.call("cudaIpcCloseMemHandle", "never opened", block);
  cuda.call("cudaFree", "usual", block);
  const auto event = cuda.get<Handle>("cudaEventCreateWithFlags", "to share", for_other_processes);
  cuda.call("cudaIpcGetEventHandle", "usual", &handle, event);
  const auto opened = cuda.get<Handle>("cudaIpcOpenEventHandle", "usual", handle);
  for (const Handle each : {opened, event}) cuda.release("cudaEventDestroy", each);
  last_error();
}

void external_memory_of_others() {
  external_memory_description about{};
  about.type = 1, about.bytes = 1 << 20;
  about.descriptor = memfd_create("external", 0);
  if (ftruncate(about.descriptor, 1 << 20) != 0) std::exit(3);
  external_buffer_description part{4096, 7001, 0, {}}, beyond{1 << 20, 7001, 0, {}};
  external_array_request image{};
  image.channels = {{8, 0, 0, 0}, 1}, image.size = {16, 16, 0}, image.levels = 1;
  const auto external = cuda.get<Handle>("cudaImportExternalMemory", "usual", &about);
  const auto buffer = cuda.get<Handle>("cudaExternalMemoryGetMappedBuffer", "usual", external, &part);
  cuda.get<Handle>("cudaExternalMemoryGetMappedBuffer", "beyond the end", external, &beyond);
  const auto levels = cuda.get<Handle>("cudaExternalMemoryGetMappedMipmappedArray", "usual", external, &image);
  cuda.release("cudaFreeMipmappedArray", levels);
  cuda.release("cudaFree", buffer);
  cuda.release("cudaDestroyExternalMemory", external);
  last_error();
}

void graphics() {
  const auto buffer = cuda.get<Handle>("cudaGraphicsGLRegisterBuffer", "usual", 1u, 0u);
  std::size_t bytes = 0;
  for (const int count : {1, 0, -1}) cuda.call("cudaGraphicsMapResources", "usual", count, &buffer, no_stream);
  cuda.get<Handle>("cudaGraphicsResourceGetMappedPointer", "usual", &bytes, buffer);
  cuda.get<Handle>("cudaGraphicsResourceGetMappedPointer", "without the size", Handle{}, buffer);
  for (const int count : {-1, 0, 1}) cuda.call("cudaGraphicsUnmapResources", "usual", count, &buffer, no_stream);
  const Handle resources[] = {buffer, cuda.get<Handle>("cudaGraphicsGLRegisterImage", "usual", 1u, 1u, 0u),
                              cuda.get<Handle>("cudaGraphicsEGLRegisterImage", "usual", Handle{}, 0u),
                              cuda.get<Handle>("cudaGraphicsVDPAURegisterVideoSurface", "usual", 1u, 0u),
                              cuda.get<Handle>("cudaGraphicsVDPAURegisterOutputSurface", "usual", 1u, 0u)};
  for (const Handle resource : resources) cuda.release("cudaGraphicsUnregisterResource", resource);
  cuda.get<Handle>("cudaEventCreateFromEGLSync", "usual", Handle{}, 0u);
  last_error();
}

}  // namespace

void foreign_memory() {
  between_processes();
  external_memory_of_others();
  if (!Library::is_careful) graphics();
}
