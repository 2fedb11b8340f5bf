// SPDX-License-Identifier: Apache-2.0
// Processes that share the devices, whatever ends them.
#include <fcntl.h>

#include <vector>

#include "shared_machine.h"

using namespace simcuda;
using namespace simcuda::test;

namespace {

std::vector<nvml::process_info> listed(const fresh_nvml& lib, nvml::gpu* device) {
  std::vector<nvml::process_info> found(16);
  unsigned count = 16;
  REQUIRE(NVML(lib, nvmlDeviceGetComputeRunningProcesses_v3, device, &count, found.data()) == 0);
  found.resize(count);
  return found;
}

}  // namespace

TEST_CASE("another process's memory is not free here, and NVML lists it until it is killed") {
  const shared_machine machine;
  const fresh_nvml lib(machine.text());
  nvml::gpu* second = lib.device(1);
  CHECK(used(lib, second) == 0);
  child_process other([&] { use(machine, 100 * mib); });
  REQUIRE(other.is_ready());
  CHECK(used(lib, second) == overhead + 100 * mib);
  CHECK(used(lib, lib.device(0)) == 0);
  REQUIRE(listed(lib, second).size() == 1);
  CHECK(listed(lib, second)[0].pid == static_cast<unsigned>(other.pid()));
  CHECK(listed(lib, second)[0].used == overhead + 100 * mib);
  char name[4096] = {};
  CHECK(NVML(lib, nvmlSystemGetProcessName, static_cast<unsigned>(other.pid()), name, sizeof name) == 0);
  CHECK(std::string(name).find("simcuda_unit_tests") != std::string::npos);

  const fresh_driver cuda(machine.text());
  cuda.start(1);
  device_ptr address = 0;
  CHECK(cuda.free_bytes() == capacity - 2 * overhead - 100 * mib);
  CHECK(CU(cuda, cuMemAlloc_v2, &address, capacity - 2 * overhead - 99 * mib) == 2);
  CHECK(listed(lib, second).size() == 2);
  other.kill_it();
  CHECK(cuda.free_bytes() == capacity - overhead);
  CHECK(listed(lib, second).size() == 1);
  CHECK(CU(cuda, cuMemAlloc_v2, &address, capacity - 2 * overhead - 99 * mib) == 0);
}

TEST_CASE("what a dead process has left does not count for the one that comes after it") {
  const shared_machine machine;
  child_process([&] { use(machine, 100 * mib); }).kill_it();
  const fresh_driver cuda(machine.text());
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  const fresh_nvml lib(machine.text());
  CHECK(used(lib, lib.device(1)) == 0);
}

TEST_CASE("what is freed, or ends with its context, is free for all") {
  const shared_machine machine;
  const fresh_driver one(machine.text()), two(machine.text());
  context* made = one.start(1);
  two.start(1);
  CHECK(two.free_bytes() == capacity - 2 * overhead);
  device_ptr address = 0;
  REQUIRE(CU(one, cuMemAlloc_v2, &address, mib) == 0);
  CHECK(two.free_bytes() == capacity - 2 * overhead - mib);
  REQUIRE(CU(one, cuMemFree_v2, address) == 0);
  CHECK(two.free_bytes() == capacity - 2 * overhead);
  REQUIRE(CU(one, cuCtxDestroy_v2, made) == 0);
  CHECK(two.free_bytes() == capacity - overhead);
}

TEST_CASE("the memory of a killed process stays used while its forked children live, and NVML lists nobody") {
  const shared_machine machine(R"(, "compute_mode": "exclusive_process")");
  const shared_number grandchild;
  child_process parent([&] {
    use(machine, 100 * mib);
    *grandchild = fork_into([] { return usleep(60000000); });
  });
  REQUIRE(parent.is_ready());
  const fresh_nvml lib(machine.text());
  nvml::gpu* second = lib.device(1);
  CHECK(listed(lib, second).size() == 1);
  parent.kill_it();
  CHECK(listed(lib, second).empty());
  parent.reap();
  CHECK(listed(lib, second).empty());
  CHECK(used(lib, second) == overhead + 100 * mib);
  const fresh_driver cuda(machine.text());
  context* made = nullptr;
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  CHECK(CU(cuda, cuCtxCreate_v2, &made, 0, 1) == 46);

  REQUIRE(kill(*grandchild, SIGKILL) == 0);
  for (int i = 0; i < 5000 && used(lib, second) != 0; ++i) usleep(1000);
  CHECK(used(lib, second) == 0);
  CHECK(CU(cuda, cuCtxCreate_v2, &made, 0, 1) == 0);
}

TEST_CASE("a program that was executed meanwhile keeps no memory of the one that started it") {
  const shared_machine machine;
  const shared_number started;
  child_process parent([&] {
    use(machine, mib);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) _exit(1);
    *started = fork_into([] { return execlp("sleep", "sleep", "60", nullptr); });
    close(ends[1]);
    char byte = 0;
    if (read(ends[0], &byte, 1) != 0) _exit(1);  // it is executed now
  });
  REQUIRE(parent.is_ready());
  parent.kill_it();
  const fresh_nvml lib(machine.text());
  CHECK(used(lib, lib.device(1)) == 0);
  REQUIRE(kill(*started, SIGKILL) == 0);
}

TEST_CASE("an account that cannot be opened leaves neither CUDA nor NVML") {
  const std::string script = R"({"shared_account": "/nonexistent/account"})";
  const fresh_driver cuda(script);
  CHECK(CU(cuda, cuInit, 0) == 999);
  CHECK(CU(cuda, cuInit, 0) == 999);
  const fresh_nvml lib(script);
  CHECK(NVML(lib, nvmlInit_v2) == 999);
}
