// Memory that another process opens, as often as it closes it and once more: driver_ipc
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "driver_calls.hpp"

namespace {

void start() {
  MUST(cuInit, 0);
  new_context();
}

struct Shared {
  CUipcMemHandle block;
  int memory;  // descriptor, of the other process
};

void open_block(const CUipcMemHandle& handle) {
  CUdeviceptr first = 0, second = 0;
  MUST(cuIpcOpenMemHandle_v2, &first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  MUST(cuIpcOpenMemHandle_v2, &second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  MUST(cuIpcCloseMemHandle, first);
  MUST(cuIpcCloseMemHandle, second);
  MUST_FAIL(cuIpcCloseMemHandle, second);
  MUST(cuIpcOpenMemHandle_v2, &first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

CUmemGenericAllocationHandle import_memory(int descriptor) {
  const std::string file = "/proc/" + std::to_string(getppid()) + "/fd/" + std::to_string(descriptor);
  const std::intptr_t own = open(file.c_str(), O_RDWR);
  CUmemGenericAllocationHandle handle = 0;
  MUST(cuMemImportFromShareableHandle, &handle, reinterpret_cast<void*>(own), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  return handle;
}

void use_what_is_shared(const Shared& shared) {
  start();
  open_block(shared.block);
  const auto handle = import_memory(shared.memory);
  CUdeviceptr range = 0;
  MUST(cuMemAddressReserve, &range, page, 0, 0, 0);
  MUST(cuMemMap, range, page, 0, handle, 0);
  MUST(cuMemRelease, handle);
  MUST(cuMemUnmap, range, page);
  import_memory(shared.memory);
}

Shared share() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUdeviceptr block = 0;
  CUmemGenericAllocationHandle memory = 0;
  Shared shared{};
  start();
  MUST(cuMemAlloc_v2, &block, 90001);
  MUST(cuIpcGetMemHandle, &shared.block, block);
  MUST(cuMemCreate, &memory, page, &properties, 0);
  MUST(cuMemExportToShareableHandle, &shared.memory, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  return shared;
}

}  // namespace

int main() {
  if (!driver) return std::printf("%s\n", dlerror()), 3;
  int ends[2], status = 0;
  Shared shared{};
  if (pipe(ends) != 0) return 3;
  const int child = fork();  // before there is anything of CUDA that it could inherit
  if (child == 0) {
    if (read(ends[0], &shared, sizeof shared) != sizeof shared) return 3;
    use_what_is_shared(shared);
    return 0;
  }
  shared = share();
  if (write(ends[1], &shared, sizeof shared) != sizeof shared) return 3;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 3;
}
