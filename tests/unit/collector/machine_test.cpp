// What the probe told, as values.
#include "model/machine.hpp"
#include "catch.hpp"
#include "model/record_parser.hpp"

using namespace gpumem;

TEST_CASE("a device's users are joined from the three lists, with the larger of two figures") {
  const auto machine = read_machine(nlohmann::json::parse(R"({"nvml":{"status":"ok","devices":[{"index":0,
    "memory":{"total_bytes":100,"free_bytes":30},"memory_v2":{"total_bytes":100,"reserved_bytes":7,"free_bytes":30},
    "processes":{"compute":[{"pid":5,"used_bytes":10},{"pid":6,"used_bytes":null}],"mps":[{"pid":5,"used_bytes":12}],
                 "graphics":[{"pid":7,"used_bytes":40},{"pid":5,"used_bytes":11}]}}]}})"));
  REQUIRE(machine.gpus.size() == 1);
  const Gpu& gpu = machine.gpus[0];
  CHECK(gpu.reserved == 7);
  CHECK(gpu.free == 30);
  REQUIRE(gpu.users.size() == 3);
  CHECK(gpu.users[0].pid == 7);
  CHECK(gpu.users[0].is_graphics_only);
  CHECK(gpu.users[1].pid == 5);
  CHECK(gpu.users[1].bytes == 12);
  CHECK_FALSE(gpu.users[1].is_graphics_only);
  CHECK_FALSE(gpu.users[2].bytes);
}

TEST_CASE("limits of both versions of cgroups") {
  const auto machine = read_machine(nlohmann::json::parse(R"({"system":{"cgroup_memory":{"levels":[
    {"folder":"/a","memory.max":"max","memory.current":5,"events":{"oom_kill":2}},
    {"folder":"/b","memory.limit_in_bytes":9,"memory.usage_in_bytes":8}]}}})"));
  REQUIRE(machine.groups.size() == 2);
  CHECK_FALSE(machine.groups[0].limit);
  CHECK(machine.groups[0].events.at("oom_kill") == 2);
  CHECK(machine.groups[1].limit == 9);
  CHECK(machine.groups[1].used == 8);
}

TEST_CASE("bus ids compare in each form that they are written in") {
  CHECK(plain_pci("00000000:3B:00.0") == "0000:3b:00.0");
  CHECK(plain_pci("0000:3b:00.0") == "0000:3b:00.0");
  CHECK(plain_pci("") == "");
}

TEST_CASE("what is no object is refused, and what is of another type counts as not told") {
  CHECK_THROWS_AS(read_machine_text("[1]"), BadLine);
  CHECK_THROWS_AS(read_machine_text("{\"nvml\""), BadLine);
  const auto machine = read_machine_text(
      R"({"nvml":{"status":3,"devices":[7,{"index":"x","memory":[],"processes":{"compute":{"pid":1}}}]},"system":{"times":5}})");
  CHECK(machine.nvml.status.empty());
  CHECK(machine.gpus.size() == 2);
}
