// SPDX-License-Identifier: Apache-2.0
// Devices that are one process's or one thread's.
#include <thread>

#include "catch.hpp"
#include "child_process.h"
#include "fresh_driver.h"

using namespace simcuda;
using test::child_process;
using test::fresh_driver;
using test::temporary_file;

namespace {

std::string shared(const temporary_file& account, const std::string& mode) {
  return R"({"shared_account": ")" + account.path() + R"(", "devices": [{"compute_mode": ")" + mode + R"("}]})";
}

int begin(const fresh_driver& cuda) {
  context* made = nullptr;
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  return CU(cuda, cuCtxCreate_v2, &made, 0, 0);
}

}  // namespace

TEST_CASE("an exclusive device is refused while another process has a context, and given once that is gone") {
  for (const std::string mode : {"exclusive_process", "exclusive_thread"}) {
    const temporary_file account("");
    child_process other([&] { fresh_driver(shared(account, mode)).start(); });
    REQUIRE(other.is_ready());
    const fresh_driver cuda(shared(account, mode));
    CHECK(begin(cuda) == 46);
    context* made = nullptr;
    CHECK(CU(cuda, cuDevicePrimaryCtxRetain, &made, 0) == 46);
    other.kill_it();
    CHECK(begin(cuda) == 0);
  }
}

TEST_CASE("a process that has only started CUDA does not hold an exclusive device") {
  const temporary_file account("");
  child_process other([&] {
    const fresh_driver cuda(shared(account, "exclusive_process"));
    REQUIRE(CU(cuda, cuInit, 0) == 0);
  });
  CHECK(begin(fresh_driver(shared(account, "exclusive_process"))) == 0);
}

TEST_CASE("a process with an exclusive device may have several contexts, unless the script says otherwise") {
  const fresh_driver usual(R"({"devices": [{"compute_mode": "exclusive_process"}]})");
  context* primary = nullptr;
  usual.start();
  CHECK(CU(usual, cuDevicePrimaryCtxRetain, &primary, 0) == 0);

  const fresh_driver narrow(
      R"({"devices": [{"compute_mode": "exclusive_process", "exclusive_within_process": true}]})");
  context* first = narrow.start();
  CHECK(CU(narrow, cuDevicePrimaryCtxRetain, &primary, 0) == 46);
  CHECK(begin(narrow) == 46);
  REQUIRE(CU(narrow, cuCtxDestroy_v2, first) == 0);
  CHECK(CU(narrow, cuDevicePrimaryCtxRetain, &primary, 0) == 0);
  CHECK(CU(narrow, cuDevicePrimaryCtxRetain, &primary, 0) == 0);
}

TEST_CASE("an exclusive-thread device has one context, which is current to one thread") {
  const fresh_driver cuda(R"({"devices": [{"compute_mode": "exclusive_thread"}, {}]})");
  context* only = cuda.start();
  context* elsewhere = nullptr;
  REQUIRE(CU(cuda, cuDevicePrimaryCtxRetain, &elsewhere, 1) == 0);
  CHECK(begin(cuda) == 46);
  std::thread([&] {
    context* current = nullptr;
    REQUIRE(CU(cuda, cuCtxSetCurrent, elsewhere) == 0);
    CHECK(CU(cuda, cuCtxSetCurrent, only) == 216);
    CHECK(CU(cuda, cuCtxPushCurrent_v2, only) == 216);
    CHECK(CU(cuda, cuCtxGetCurrent, &current) == 0);
    CHECK(current == elsewhere);
  }).join();
  REQUIRE(CU(cuda, cuCtxPushCurrent_v2, only) == 0);
  REQUIRE(CU(cuda, cuCtxPopCurrent_v2, nullptr) == 0);
  std::thread([&] { CHECK(CU(cuda, cuCtxSetCurrent, only) == 216); }).join();
  REQUIRE(CU(cuda, cuCtxPopCurrent_v2, nullptr) == 0);
  std::thread([&] { CHECK(CU(cuda, cuCtxSetCurrent, only) == 0); }).join();
  CHECK(CU(cuda, cuCtxSetCurrent, only) == 0);  // the other thread has ended
}
