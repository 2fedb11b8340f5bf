// Memory of other processes and interfaces in a runtime program: runtime_foreign_ways LIBCUDART WAY…
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

#include "runtime_calls.hpp"

namespace {

void external() {
  cudaExternalMemoryHandleDesc about{};
  about.type = cudaExternalMemoryHandleTypeOpaqueFd;
  about.size = 1 << 20;
  cudaExternalMemoryBufferDesc part{};
  part.offset = page, part.size = 70001;
  cudaExternalMemory_t first = nullptr, second = nullptr;
  void* buffer = nullptr;
  for (cudaExternalMemory_t* each : {&first, &second}) {
    about.handle.fd = memfd_create("external", 0);
    if (ftruncate(about.handle.fd, 1 << 20) != 0) std::exit(3);
    must("cudaImportExternalMemory", each, &about);
  }
  must("cudaExternalMemoryGetMappedBuffer", &buffer, first, &part);
  must("cudaFree", buffer);
  must("cudaDestroyExternalMemory", first);
  must("cudaExternalMemoryGetMappedBuffer", &buffer, second, &part);
}

void graphics() {
  cudaGraphicsResource_t first = nullptr, second = nullptr;
  void *address = nullptr, *same = nullptr;
  std::size_t bytes = 0;
  must("cudaGraphicsGLRegisterBuffer", &first, 1u, 0u);
  must("cudaGraphicsGLRegisterBuffer", &second, 2u, 0u);
  must("cudaGraphicsMapResources", 1, &first, no_stream);
  must("cudaGraphicsResourceGetMappedPointer", &address, &bytes, first);
  must("cudaGraphicsResourceGetMappedPointer", &same, &bytes, first);
  must("cudaGraphicsUnmapResources", 1, &first, no_stream);
  must("cudaGraphicsUnregisterResource", first);
  must("cudaGraphicsMapResources", 1, &second, no_stream);
  must("cudaGraphicsResourceGetMappedPointer", &address, &bytes, second);
}

// The parent's block is opened by a child that never had its CUDA.
void ipc() {
  int ends[2];
  cudaIpcMemHandle_t handle{};
  if (pipe(ends) != 0) std::exit(3);
  const int child = fork();
  if (child == 0) {
    if (read(ends[0], &handle, sizeof handle) != sizeof handle) std::exit(3);
    void *first = nullptr, *second = nullptr;
    must("cudaIpcOpenMemHandle", &first, handle, 1u);
    must("cudaIpcOpenMemHandle", &second, handle, 1u);
    must("cudaIpcCloseMemHandle", first);
    must("cudaIpcCloseMemHandle", second);
    must_fail("cudaIpcCloseMemHandle", second);
    must("cudaIpcOpenMemHandle", &first, handle, 1u);
    std::exit(0);
  }
  void* block = nullptr;
  must("cudaMalloc", &block, std::size_t{50021});
  must("cudaIpcGetMemHandle", &handle, block);
  if (write(ends[1], &handle, sizeof handle) != sizeof handle) std::exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d\n", status);
}

constexpr Way ways[] = {{"external", external}, {"graphics", graphics}, {"ipc", ipc}};

}  // namespace

int main(int argc, char** argv) { return run_ways_over(ways, argc, argv); }
