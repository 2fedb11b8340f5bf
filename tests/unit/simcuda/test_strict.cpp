// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

const char* const strict = R"({"strict": true, "rules": [{"call": "cuCtxSynchronize", "delay_ms": 500}]})";
const fresh_driver* seen_by_handlers = nullptr;

/// What a child process that runs this says on stderr before it aborts; empty when it does not abort.
template <class Body>
std::string last_words(Body body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t count = 0; (count = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(count));
  close(ends[0]);
  int result = 0;
  REQUIRE(waitpid(child, &result, 0) == child);
  return WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT ? text : "";
}

void free_nothing(void* driver) { CU(*static_cast<const fresh_driver*>(driver), cuMemFree_v2, 0); }

}  // namespace

TEST_CASE("strict: a call from a host function aborts") {
  CHECK(last_words([] {
          fresh_driver cuda(strict);
          cuda.start();
          CU(cuda, cuLaunchHostFunc, nullptr, free_nothing, &cuda);
        }) == "simcuda: strict: cuMemFree_v2 called from a host function\n");
}

TEST_CASE("strict: a call after exit began aborts") {
  CHECK(last_words([] {
          seen_by_handlers = new fresh_driver(strict);
          std::atexit([] { CU(*seen_by_handlers, cuMemFree_v2, 0); });
          CU(*seen_by_handlers, cuInit, 0);
          std::exit(0);
        }) == "simcuda: strict: cuMemFree_v2 called after exit began\n");
}

TEST_CASE("strict: a call in a forked child aborts") {
  CHECK(last_words([] {
          fresh_driver cuda(strict);
          CU(cuda, cuInit, 0);
          const pid_t child = fork();
          if (child == 0) CU(cuda, cuMemFree_v2, 0);
          int result = 0;
          waitpid(child, &result, 0);
          if (WIFSIGNALED(result)) std::abort();
        }) == "simcuda: strict: cuMemFree_v2 called in a forked child\n");
}

TEST_CASE("strict: a call inside another call of the thread aborts") {
  CHECK(last_words([] {
          seen_by_handlers = new fresh_driver(strict);
          seen_by_handlers->start();
          signal(SIGALRM, [](int) { CU(*seen_by_handlers, cuMemFree_v2, 0); });
          const itimerval soon{{0, 0}, {0, 50000}};
          setitimer(ITIMER_REAL, &soon, nullptr);
          CU(*seen_by_handlers, cuCtxSynchronize);
        }) == "simcuda: strict: cuMemFree_v2 called inside cuCtxSynchronize\n");
}

TEST_CASE("strict: ordinary use goes on, and so do texts and versions anywhere") {
  const fresh_driver cuda(strict);
  cuda.start();
  device_ptr block = 0;
  CHECK(CU(cuda, cuMemAlloc_v2, &block, 1) == 0);
  CHECK(CU(cuda, cuMemFree_v2, block) == 0);
  const host_function ask = [](void* driver) {
    int version = 0;
    CU(*static_cast<const fresh_driver*>(driver), cuDriverGetVersion, &version);
  };
  CHECK(CU(cuda, cuLaunchHostFunc, nullptr, ask, const_cast<fresh_driver*>(&cuda)) == 0);
}

TEST_CASE("CUDA_DEVICE_ORDER can ask for the order of the bus") {
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  const fresh_driver cuda(R"({"devices": [{"name": "fast", "pci_bus_id": "0000:82:00.0"},
                                          {"name": "slow", "pci_bus_id": "0000:03:00.0"}]})");
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  unsetenv("CUDA_DEVICE_ORDER");
  char name[16] = {};
  CHECK(CU(cuda, cuDeviceGetName, name, sizeof name, 0) == 0);
  CHECK(std::string(name) == "slow");
}
