// SPDX-License-Identifier: Apache-2.0
// Processes that share the devices, and do so at the same moment.
#include <chrono>
#include <thread>
#include <vector>

#include "shared_machine.h"

using namespace simcuda;
using namespace simcuda::test;

namespace {

/// Until so many have come here; not for ever, since one may have failed.
void wait_until(const shared_number& have_come, int all) {
  ++*have_come;
  for (int i = 0; i < 100000 && *have_come < all; ++i) usleep(100);
}

}  // namespace

TEST_CASE("processes that ask at the same moment get what there is, and no more") {
  const shared_machine machine;
  const shared_number got, ready;
  constexpr int processes = 4;
  std::vector<pid_t> asking;
  for (int i = 0; i < processes; ++i) {
    asking.push_back(fork_into([&] {
      const fresh_driver cuda(machine.text());
      cuda.start(1);
      wait_until(ready, processes);
      device_ptr address = 0;
      while (CU(cuda, cuMemAlloc_v2, &address, mib) == 0) ++*got;
      wait_until(ready, 2 * processes);  // nobody gives back before all have asked
      return 0;
    }));
  }
  for (const pid_t one : asking) waitpid(one, nullptr, 0);
  CHECK(*got == static_cast<int>((capacity - processes * overhead) / mib));
}

TEST_CASE("what fits once is never given to two processes at the same time") {
  const shared_machine machine;
  const shared_number got, at_once, twice, ready;
  constexpr int processes = 2;
  std::vector<pid_t> asking;
  for (int i = 0; i < processes; ++i) {
    asking.push_back(fork_into([&] {
      const fresh_driver cuda(machine.text());
      cuda.start(1);
      wait_until(ready, processes);
      device_ptr address = 0;
      for (int round = 0; round < 20000; ++round) {
        if (CU(cuda, cuMemAlloc_v2, &address, capacity / 2) != 0) continue;
        ++*got;
        if (++*at_once != 1) ++*twice;
        --*at_once;
        CU(cuda, cuMemFree_v2, address);
      }
      return 0;
    }));
  }
  for (const pid_t one : asking) waitpid(one, nullptr, 0);
  CHECK(*got > 0);
  CHECK(*twice == 0);
}

TEST_CASE("a process that is killed at any moment leaves neither a lock nor memory") {
  const shared_machine machine;
  const fresh_nvml lib(machine.text());
  nvml::gpu* second = lib.device(1);
  const fresh_driver cuda(machine.text());
  const shared_number heir;
  for (int round = 0; round < 25; ++round) {
    child_process busy([&] {
      const fresh_driver own(machine.text());
      own.start(1);
      std::thread([own] {
        for (device_ptr address = 0;;) {
          CU(own, cuMemAlloc_v2, &address, mib);
          CU(own, cuMemFree_v2, address);
        }
      }).detach();
      usleep(2000);
      *heir = fork_into([] { return usleep(8000000); });  // inherits whatever is held just then
    });
    REQUIRE(busy.is_ready());
    usleep(static_cast<useconds_t>(round * 37));
    busy.kill_it();
    const auto before = std::chrono::steady_clock::now();
    context* made = cuda.start(1);
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
    REQUIRE(CU(cuda, cuCtxDestroy_v2, made) == 0);
    REQUIRE(kill(*heir, SIGKILL) == 0);
  }
  for (int i = 0; i < 5000 && used(lib, second) != 0; ++i) usleep(1000);
  CHECK(used(lib, second) == 0);
}
