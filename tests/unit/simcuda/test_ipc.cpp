// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

/// Two processes, as IPC needs: the child is forked before CUDA starts in either. The parent exports, the child says
/// by its exit code where it failed.
struct two_processes {
  int to_child[2];

  void tell_child(const ipc_handle& handle) const {
    REQUIRE(write(to_child[1], &handle, sizeof handle) == sizeof handle);
  }
  ipc_handle hear() const {
    ipc_handle handle{};
    if (read(to_child[0], &handle, sizeof handle) != sizeof handle) _exit(90);
    return handle;
  }
};

int child_result(const fresh_driver& cuda, const two_processes& pair) {
  context* made = nullptr;
  if (CU(cuda, cuInit, 0) || CU(cuda, cuCtxCreate_v2, &made, 0, 0)) return 91;
  std::size_t before = 0, after = 0, total = 0;
  CU(cuda, cuMemGetInfo_v2, &before, &total);
  const ipc_handle memory = pair.hear();
  device_ptr first = 0, second = 0;
  if (CU(cuda, cuIpcOpenMemHandle, &first, memory, 0) != 1) return 1;
  if (CU(cuda, cuIpcOpenMemHandle_v2, &first, memory, 1) || CU(cuda, cuIpcOpenMemHandle_v2, &second, memory, 1))
    return 2;
  if (first != second) return 3;
  int value = 0;
  if (CU(cuda, cuMemcpyDtoH_v2, &value, first, sizeof value) || value != 42) return 4;
  value = 43;
  if (CU(cuda, cuMemcpyHtoD_v2, first, &value, sizeof value)) return 5;
  CU(cuda, cuMemGetInfo_v2, &after, &total);
  if (before != after) return 6;
  if (CU(cuda, cuMemFree_v2, first) != 1) return 7;
  if (CU(cuda, cuIpcCloseMemHandle, first) || CU(cuda, cuIpcCloseMemHandle, first)) return 8;
  if (CU(cuda, cuIpcCloseMemHandle, first) != 1) return 9;
  if (CU(cuda, cuMemcpyHtoD_v2, first, &value, sizeof value) != 1) return 10;
  event* mark = nullptr;
  if (CU(cuda, cuIpcOpenEventHandle, &mark, pair.hear()) || CU(cuda, cuEventSynchronize, mark)) return 11;
  return 0;
}

}  // namespace

TEST_CASE("another process opens exported memory and sees the same bytes") {
  const fresh_driver cuda;
  two_processes pair{};
  REQUIRE(pipe(pair.to_child) == 0);
  const pid_t child = fork();
  if (child == 0) _exit(child_result(cuda, pair));
  cuda.start();
  device_ptr block = 0, copy = 0, other = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &other, 512) == 0);  // so that the block does not begin a page
  REQUIRE(CU(cuda, cuMemAlloc_v2, &block, 1000) == 0);
  int value = 42;
  REQUIRE(CU(cuda, cuMemcpyHtoD_v2, block, &value, sizeof value) == 0);
  ipc_handle memory{}, happened{};
  REQUIRE(CU(cuda, cuIpcGetMemHandle, &memory, block) == 0);
  CHECK(CU(cuda, cuIpcOpenMemHandle_v2, &copy, memory, 1) == 201);
  CHECK(CU(cuda, cuIpcGetMemHandle, &happened, 4096) == 1);
  pair.tell_child(memory);
  event* mark = nullptr;
  REQUIRE(CU(cuda, cuEventCreate, &mark, 2) == 0);
  CHECK(CU(cuda, cuIpcGetEventHandle, &happened, mark) == 1);
  REQUIRE(CU(cuda, cuEventCreate, &mark, 6) == 0);
  REQUIRE(CU(cuda, cuIpcGetEventHandle, &happened, mark) == 0);
  pair.tell_child(happened);
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WEXITSTATUS(result) == 0);
  CHECK(CU(cuda, cuMemcpyDtoH_v2, &value, block, sizeof value) == 0);
  CHECK(value == 43);
  close(pair.to_child[0]);
  close(pair.to_child[1]);
}
