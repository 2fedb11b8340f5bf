// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
const std::string small_device =
    R"({"devices": [{"capacity": 104857600, "context_overhead": 20971520}]})";  // 100, 20 MiB

}  // namespace

TEST_CASE("arguments are checked") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr address = 0;
  CHECK(CU(cuda, cuMemAlloc_v2, nullptr, 1) == 1);
  CHECK(CU(cuda, cuMemAlloc_v2, &address, 0) == 1);
  CHECK(CU(cuda, cuMemAllocManaged, &address, 1, 0) == 1);
  CHECK(CU(cuda, cuMemAlloc_v2, &address, ~std::size_t{0}) == 2);
  legacy_device_ptr old = 0;
  CHECK(CU(cuda, cuMemAlloc, &old, 1) == 201);
}

TEST_CASE("memory is freed once") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr address = 0;
  const std::size_t before = cuda.free_bytes();
  REQUIRE(CU(cuda, cuMemAlloc_v2, &address, 1000) == 0);
  CHECK(cuda.free_bytes() == before - 1024);
  CHECK(CU(cuda, cuMemFree_v2, address + 512) == 1);
  CHECK(CU(cuda, cuMemFree_v2, address) == 0);
  CHECK(CU(cuda, cuMemFree_v2, address) == 1);
  CHECK(CU(cuda, cuMemFree_v2, 0) == 0);
  CHECK(cuda.free_bytes() == before);
}

TEST_CASE("a full device is out of memory, and a failed request changes nothing") {
  const fresh_driver cuda(small_device);
  cuda.start();
  device_ptr big = 0, untouched = 42;
  CHECK(CU(cuda, cuMemAlloc_v2, &untouched, 81 * mib) == 2);
  CHECK(untouched == 42);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &big, 80 * mib) == 0);
  CHECK(cuda.free_bytes() == 0);
  CHECK(CU(cuda, cuMemAlloc_v2, &untouched, 1) == 2);
  CHECK(CU(cuda, cuMemAllocAsync, &untouched, 1, nullptr) == 2);
  REQUIRE(CU(cuda, cuMemFree_v2, big) == 0);
  CHECK(cuda.free_bytes() == 80 * mib);
}

TEST_CASE("a freed address is handed out again at once") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr first = 0, second = 0, third = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &first, mib) == 0);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &second, mib) == 0);
  REQUIRE(CU(cuda, cuMemFree_v2, first) == 0);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &third, mib) == 0);
  CHECK(third == first);
}

TEST_CASE("a script can forbid the reuse of addresses") {
  const fresh_driver cuda(R"({"reuse": "never"})");
  cuda.start();
  device_ptr first = 0, second = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &first, mib) == 0);
  REQUIRE(CU(cuda, cuMemFree_v2, first) == 0);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &second, mib) == 0);
  CHECK(second != first);
}

TEST_CASE("a script can have the address freed last handed out at once, also for less") {
  const fresh_driver cuda(R"({"reuse": "at_once"})");
  cuda.start();
  device_ptr small = 0, big = 0, next = 0, rest = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &small, 512) == 0);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &big, mib) == 0);
  REQUIRE(CU(cuda, cuMemFree_v2, small) == 0);
  REQUIRE(CU(cuda, cuMemFree_v2, big) == 0);  // merges with the small one
  REQUIRE(CU(cuda, cuMemAlloc_v2, &next, 512) == 0);
  CHECK(next == big);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &rest, 512) == 0);
  CHECK(rest == small);
}

TEST_CASE("memory falls without any call") {
  const fresh_driver cuda(
      R"({"devices": [{"capacity": 104857600, "context_overhead": 0, "falls": [{"after_ms": 0, "bytes": 1048576},
         {"after_ms": 30, "bytes": 2097152}, {"after_ms": 3600000, "bytes": 1}]}]})");
  cuda.start();
  CHECK(cuda.free_bytes() >= 97 * mib);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  CHECK(cuda.free_bytes() == 97 * mib);
}

TEST_CASE("copies and fills work, inside a block only") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr from = 0, to = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &from, 16) == 0);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &to, 16) == 0);
  const char text[] = "fifteen letters";
  char back[16] = {};
  CHECK(CU(cuda, cuMemcpyHtoD_v2, from, text, 16) == 0);
  CHECK(CU(cuda, cuMemcpyDtoD_v2, to, from, 16) == 0);
  CHECK(CU(cuda, cuMemcpyDtoHAsync_v2, back, to, 16, nullptr) == 0);
  CHECK(std::string(back) == text);
  CHECK(CU(cuda, cuMemcpyHtoD_v2, from, text, 17) == 1);
  CHECK(CU(cuda, cuMemcpyHtoD_v2, from + 8, text, 9) == 1);
  CHECK(CU(cuda, cuMemsetD32_v2, to, 0x01020304, 4) == 0);
  CHECK(CU(cuda, cuMemsetD32_v2, to, 0, 5) == 1);
  CHECK(CU(cuda, cuMemsetD32_v2, to + 1, 0, 1) == 1);
  CHECK(CU(cuda, cuMemcpy, reinterpret_cast<device_ptr>(back), to, 16) == 0);
  CHECK(back[4] == 4);
}

TEST_CASE("two-dimensional copies honour both pitches") {
  const fresh_driver cuda;
  cuda.start();
  device_ptr target = 0;
  std::size_t pitch = 0;
  REQUIRE(CU(cuda, cuMemAllocPitch_v2, &target, &pitch, 4, 2, 4) == 0);
  char source[] = "abcd..efgh..";
  copy_2d wanted{{0, 0, memory_type::host, source, 0, nullptr, 6},
                 {0, 0, memory_type::device, nullptr, target, nullptr, pitch},
                 4,
                 2};
  CHECK(CU(cuda, cuMemcpy2D_v2, &wanted) == 0);
  char back[4] = {};
  CHECK(CU(cuda, cuMemcpyDtoH_v2, back, target + pitch, 4) == 0);
  CHECK(std::memcmp(back, "efgh", 4) == 0);
}

TEST_CASE("host memory is registered once") {
  const fresh_driver cuda;
  cuda.start();
  std::vector<char> memory(8192);
  CHECK(CU(cuda, cuMemHostUnregister, memory.data()) == 713);
  CHECK(CU(cuda, cuMemHostRegister_v2, memory.data(), 4096, 0) == 0);
  CHECK(CU(cuda, cuMemHostRegister_v2, memory.data() + 100, 100, 0) == 712);
  device_ptr mapped = 0;
  CHECK(CU(cuda, cuMemHostGetDevicePointer_v2, &mapped, memory.data() + 5, 0) == 0);
  CHECK(CU(cuda, cuMemFreeHost, memory.data()) == 1);
  CHECK(CU(cuda, cuMemHostUnregister, memory.data()) == 0);
}

TEST_CASE("pointers can be asked what they are") {
  const fresh_driver cuda;
  context* made = cuda.start();
  device_ptr address = 0, start = 0;
  std::size_t bytes = 0;
  REQUIRE(CU(cuda, cuMemAlloc_v2, &address, 100) == 0);
  CHECK(CU(cuda, cuMemGetAddressRange_v2, &start, &bytes, address + 50) == 0);
  CHECK(start == address);
  CHECK(bytes == 100);
  context* owner = nullptr;
  CHECK(CU(cuda, cuPointerGetAttribute, &owner, 1, address) == 0);
  CHECK(owner == made);
  int local = 0, type = 5;
  int attribute = 2;
  void* value = &type;
  CHECK(CU(cuda, cuPointerGetAttribute, &type, 2, reinterpret_cast<device_ptr>(&local)) == 1);
  CHECK(CU(cuda, cuPointerGetAttributes, 1, &attribute, &value, reinterpret_cast<device_ptr>(&local)) == 0);
  CHECK(type == 0);
}

TEST_CASE("code costs memory where it is loaded") {
  const fresh_driver cuda(R"({"module_bytes": 5242880, "devices": [{"capacity": 104857600, "context_overhead": 0}]})");
  cuda.start();
  code_module* loaded = nullptr;
  REQUIRE(CU(cuda, cuModuleLoadData, &loaded, "image") == 0);
  CHECK(cuda.free_bytes() == 95 * mib);
  library* lazy = nullptr;
  kernel* entry = nullptr;
  REQUIRE(CU(cuda, cuLibraryLoadData, &lazy, "image", nullptr, nullptr, 0, nullptr, nullptr, 0) == 0);
  REQUIRE(CU(cuda, cuLibraryGetKernel, &entry, lazy, "work") == 0);
  CHECK(cuda.free_bytes() == 95 * mib);
  auto* as_function = reinterpret_cast<function*>(entry);
  CHECK(CU(cuda, cuLaunchKernel, as_function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  CHECK(cuda.free_bytes() == 90 * mib);
  CHECK(CU(cuda, cuLaunchKernel, as_function, 0, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 1);
  CHECK(CU(cuda, cuLaunchKernel, reinterpret_cast<function*>(&lazy), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
        400);
  CHECK(CU(cuda, cuLibraryUnload, lazy) == 0);
  CHECK(CU(cuda, cuModuleUnload, loaded) == 0);
  CHECK(CU(cuda, cuModuleUnload, loaded) == 400);
  CHECK(cuda.free_bytes() == 100 * mib);
}

TEST_CASE("a script can tell the sizes of variables") {
  const fresh_driver cuda(R"({"globals": {"weights": 4096}})");
  cuda.start();
  code_module* code = nullptr;
  device_ptr address = 0;
  std::size_t bytes = 0;
  REQUIRE(CU(cuda, cuModuleLoadData, &code, "image") == 0);
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK(CU(cuda, cuModuleGetGlobal_v2, &address, &bytes, code, "weights") == 0);
    CHECK(bytes == 4096);
  }
  CHECK(CU(cuda, cuModuleGetGlobal_v2, &address, &bytes, code, "other") == 0);
  CHECK(bytes == 1 << 20);
}

TEST_CASE("streams and events are handles that can be gone") {
  const fresh_driver cuda;
  cuda.start();
  stream* queue = nullptr;
  event *start = nullptr, *end = nullptr;
  REQUIRE(CU(cuda, cuStreamCreate, &queue, 1) == 0);
  REQUIRE(CU(cuda, cuEventCreate, &start, 0) == 0);
  REQUIRE(CU(cuda, cuEventCreate, &end, 0) == 0);
  float milliseconds = -1;
  CHECK(CU(cuda, cuEventElapsedTime, &milliseconds, start, end) == 400);
  CHECK(CU(cuda, cuEventRecord, start, queue) == 0);
  CHECK(CU(cuda, cuEventRecord, end, nullptr) == 0);
  CHECK(CU(cuda, cuEventElapsedTime, &milliseconds, start, end) == 0);
  CHECK(milliseconds >= 0);
  int ran = 0;
  CHECK(CU(
            cuda, cuLaunchHostFunc, queue, [](void* data) { *static_cast<int*>(data) = 1; }, &ran) == 0);
  CHECK(ran == 1);
  CHECK(CU(cuda, cuStreamDestroy_v2, queue) == 0);
  CHECK(CU(cuda, cuStreamDestroy_v2, queue) == 400);
  CHECK(CU(cuda, cuStreamSynchronize, queue) == 400);
}
