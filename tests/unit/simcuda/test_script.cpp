// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "catch.hpp"
#include "driver/script.h"
#include "driver/visible_devices.h"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;
using test::temporary_file;

namespace {

std::string refusal(const std::string& text) {
  const temporary_file file(text);
  try {
    load_script(file.path());
  } catch (const script_error& error) {
    const std::string message = error.what();
    CHECK(message.starts_with(file.path() + ": "));
    return message.substr(file.path().size() + 2);
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the example is accepted and says what its documentation says") {
  const script example = load_script(SIMCUDA_EXAMPLE);
  CHECK(example.driver_version == 13000);
  CHECK(example.peer_access);
  CHECK(example.globals.at("weights") == 4096);
  REQUIRE(example.devices.size() == 2);
  CHECK(example.devices[0].name == "SimCUDA A");
  CHECK(example.devices[1].mode == compute_mode::exclusive_process);
  REQUIRE(example.devices[1].other_processes.size() == 1);
  CHECK(example.devices[1].other_processes[0].used_bytes == 6442450944);
  REQUIRE(example.rules.size() == 3);
  CHECK(example.rules[0].times == 1);
  CHECK(example.rules[1].times == 0);
}

TEST_CASE("what a script gets wrong is named") {
  CHECK(refusal(R"({"devicez": []})") == "devicez: unknown key");
  CHECK(refusal(R"({"reuse": true})").starts_with("reuse: one of \"at_once\""));
  CHECK(refusal(R"({"devices": [{"falls": [{"when": 1}]}]})") == "devices[0].falls[0].when: unknown key");
  CHECK(refusal(R"({"devices": [{"nmae": "x"}]})") == "devices[0].nmae: unknown key");
  CHECK(refusal(R"({"devices": [{"capacity": -1}]})").starts_with("devices[0].capacity: out of range"));
  CHECK(refusal(R"({"devices": [{"capacity": "1G"}]})") == "devices[0].capacity: an integer is expected");
  CHECK(refusal(R"({"devices": [{"uuid": "GPU-12"}]})").starts_with("devices[0].uuid: GPU-xxxx"));
  CHECK(refusal(R"({"devices": [{"pci_bus_id": "3b"}]})").starts_with("devices[0].pci_bus_id: domain"));
  CHECK(
      refusal(R"({"devices": [{"compute_mode": "busy"}]})").starts_with("devices[0].compute_mode: one of \"default\""));
  CHECK(refusal(R"({"rules": [{"nth": 2}]})").starts_with("rules[0].call: the name"));
  CHECK(refusal(R"({"rules": [{"call": "cuInit", "nth": 0}]})").starts_with("rules[0].nth: out of range"));
  CHECK(refusal(R"({"rules": [{"call": "cuInit", "free_falls_by": 1, "device": 4}]})") ==
        "rules[0].device: no such device");
  CHECK(refusal(R"({"globals": {"x": 0}})").starts_with("globals.x: out of range"));
  CHECK(refusal(R"({"globals": [1]})") == "globals: an object is expected");
  std::string devices = "{}";
  for (int i = 0; i < 32; ++i) devices += ", {}";
  CHECK(refusal(R"({"shared_account": "x", "devices": [)" + devices + "]}") ==
        "shared_account: for at most 32 devices");
  CHECK(refusal("[]") == "an object is expected");
  CHECK(refusal("{") != "accepted");
  CHECK_THROWS_AS(load_script("/nonexistent"), script_error);
}

TEST_CASE("CUDA_VISIBLE_DEVICES chooses, orders and ends at the first bad entry") {
  const auto all = load_script(SIMCUDA_EXAMPLE).devices;
  const auto names = [&](const char* variable) {
    std::string text;
    for (const auto& one : visible_devices(all, variable)) text += one.name.back();
    return text;
  };
  CHECK(names(nullptr) == "AB");
  CHECK(names("") == "");
  CHECK(names("1, 0") == "BA");
  CHECK(names("1,7,0") == "B");
  CHECK(names("-1,0") == "");
  CHECK(names("0,0") == "A");
  CHECK(names("GPU-5a1b") == "A");
  CHECK(names("GPU-") == "");
  CHECK(names("MIG-1,0") == "");
}

TEST_CASE("a process with a refused script has no CUDA") {
  const fresh_driver cuda(R"({"surprise": 1})");
  CHECK(CU(cuda, cuInit, 0) == 999);
}

TEST_CASE("a rule answers the calls that it names") {
  const fresh_driver cuda(R"({"rules": [{"call": "cuMemAlloc_v2", "nth": 2, "times": 2, "code": 2},
                                        {"call": "cuMemFree_v2", "nth": 1, "code": 999}]})");
  cuda.start();
  device_ptr address = 0;
  for (const int expected : {0, 2, 2, 0, 0}) CHECK(CU(cuda, cuMemAlloc_v2, &address, 512) == expected);
  CHECK(CU(cuda, cuMemFree_v2, address) == 999);
  CHECK(CU(cuda, cuMemFree_v2, address) == 0);
}

TEST_CASE("every rule for a call counts it, also where another has answered") {
  const fresh_driver cuda(R"({"rules": [{"call": "cuCtxSynchronize", "nth": 1, "code": 700},
                                        {"call": "cuCtxSynchronize", "nth": 2, "code": 701},
                                        {"call": "cuCtxSynchronize", "nth": 2, "times": 2, "code": 702}]})");
  cuda.start();
  for (const int expected : {700, 701, 702, 0}) CHECK(CU(cuda, cuCtxSynchronize) == expected);
}

TEST_CASE("a rule without nth holds for every call, also of what is not simulated") {
  const fresh_driver cuda(R"({"rules": [{"call": "cuGraphCreate", "code": 304}]})");
  auto* call = reinterpret_cast<int (*)()>(cuda.symbol("cuGraphCreate"));
  CHECK(call() == 304);
  CHECK(call() == 304);
}

TEST_CASE("a rule can delay a call") {
  const fresh_driver cuda(R"({"rules": [{"call": "cuInit", "delay_ms": 50}]})");
  const auto start = std::chrono::steady_clock::now();
  CHECK(CU(cuda, cuInit, 0) == 0);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(50));
}

TEST_CASE("free memory can fall without an allocation") {
  const fresh_driver cuda(R"({"rules": [{"call": "cuCtxSynchronize", "free_falls_by": 1048576, "times": 2}]})");
  cuda.start();
  const std::size_t before = cuda.free_bytes();
  for (int call = 0; call < 3; ++call) REQUIRE(CU(cuda, cuCtxSynchronize) == 0);
  CHECK(cuda.free_bytes() == before - 2 * 1048576);
}
