// SPDX-License-Identifier: Apache-2.0
// A machine that the processes of a test share.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <string>

#include "catch.hpp"
#include "child_process.h"
#include "fresh_nvml.h"

namespace simcuda::test {

inline constexpr std::size_t mib = std::size_t{1} << 20;
inline constexpr std::size_t capacity = 1024 * mib, overhead = 64 * mib;

class shared_machine {
 public:
  explicit shared_machine(const std::string& more = "") {
    text_ = R"({"shared_account": ")" + account_.path() + R"(", "devices": [{"uuid": ")" + new_uuid() +
            R"("}, {"capacity": 1073741824, "context_overhead": 67108864, "uuid": ")" + new_uuid() + "\"" + more +
            "}]}";
  }
  const std::string& text() const noexcept { return text_; }

 private:
  // NVML asks the driver that this process loaded first, which may be another test case's.
  static std::string new_uuid() {
    static std::size_t made = 0;
    return "GPU-00000000-0000-0000-0acc-" + std::to_string(100000000000 + made++);
  }

  temporary_file account_{""};
  std::string text_;
};

/// In a process of its own: CUDA, a context on the second device, and a block there.
inline void use(const shared_machine& machine, std::size_t bytes) {
  const fresh_driver cuda(machine.text());
  device_ptr address = 0;
  cuda.start(1);
  REQUIRE(CU(cuda, cuMemAlloc_v2, &address, bytes) == 0);
}

/// A number that this process and the ones it forks see.
class shared_number {
 public:
  shared_number()
      : value_(mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(value_ != MAP_FAILED);
  }
  ~shared_number() { munmap(value_, sizeof(std::atomic<int>)); }
  shared_number(const shared_number&) = delete;
  shared_number& operator=(const shared_number&) = delete;
  std::atomic<int>& operator*() const noexcept { return *static_cast<std::atomic<int>*>(value_); }

 private:
  void* value_;
};

inline std::size_t used(const fresh_nvml& lib, nvml::gpu* device) {
  nvml::memory_info memory{};
  REQUIRE(NVML(lib, nvmlDeviceGetMemoryInfo, device, &memory) == 0);
  return memory.used;
}

}  // namespace simcuda::test
