// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t page = 2 * mib;
const std::string two_devices = R"({"devices": [{"capacity": 104857600, "context_overhead": 0},
                                                {"capacity": 104857600, "context_overhead": 0}]})";
const memory_handle untouched = 42;

memory_handle create_memory(const fresh_driver& cuda, int device) {
  allocation_properties wanted{};
  wanted.type = 1;
  wanted.location = {location_device, device};
  memory_handle made = untouched;
  REQUIRE(CU(cuda, cuMemCreate, &made, 2 * page, &wanted, 0) == 0);
  return made;
}

memory_handle create_team(const fresh_driver& cuda, unsigned devices, unsigned long long handle_types = 0) {
  const multicast_properties wanted{devices, 2 * page, handle_types, 0};
  memory_handle made = untouched;
  REQUIRE(CU(cuda, cuMulticastCreate, &made, &wanted) == 0);
  return made;
}

}  // namespace

TEST_CASE("memory that is bound to a multicast object outlives its handle, and ends with the object") {
  const fresh_driver cuda(two_devices);
  cuda.start();
  const memory_handle team = create_team(cuda, 2), memory = create_memory(cuda, 0);
  CHECK(cuda.free_bytes() == 96 * mib);  // the object itself has no memory
  CHECK(CU(cuda, cuMulticastBindMem, team, 0, memory, 0, page, 0) == 1);
  REQUIRE(CU(cuda, cuMulticastAddDevice, team, 0) == 0);
  CHECK(CU(cuda, cuMulticastAddDevice, team, 0) == 1);
  CHECK(CU(cuda, cuMulticastBindMem, team, 0, memory, 0, page, 0) == 1);  // the team is not complete
  REQUIRE(CU(cuda, cuMulticastAddDevice, team, 1) == 0);
  REQUIRE(CU(cuda, cuMulticastBindMem, team, 0, memory, page, page, 0) == 0);
  CHECK(CU(cuda, cuMulticastBindMem, team, 0, memory, 0, page, 0) == 1);  // bound there already
  CHECK(CU(cuda, cuMemRelease, memory) == 0);
  CHECK(cuda.free_bytes() == 96 * mib);
  CHECK(CU(cuda, cuMemRelease, team) == 0);
  CHECK(cuda.free_bytes() == 100 * mib);
}

TEST_CASE("memory can be bound by its address, and be unbound") {
  const fresh_driver cuda(two_devices);
  cuda.start();
  const memory_handle team = create_team(cuda, 1), memory = create_memory(cuda, 1);
  device_ptr range = 0;
  REQUIRE(CU(cuda, cuMulticastAddDevice, team, 1) == 0);
  REQUIRE(CU(cuda, cuMemAddressReserve, &range, 2 * page, 0, 0, 0) == 0);
  CHECK(CU(cuda, cuMulticastBindAddr, team, 0, range, page, 0) == 1);
  REQUIRE(CU(cuda, cuMemMap, range, 2 * page, 0, memory, 0) == 0);
  REQUIRE(CU(cuda, cuMulticastBindAddr, team, page, range, page, 0) == 0);
  CHECK(CU(cuda, cuMulticastUnbind, team, 0, page, page) == 1);
  CHECK(CU(cuda, cuMulticastUnbind, team, 1, page, page) == 0);
  CHECK(CU(cuda, cuMulticastUnbind, team, 1, page, page) == 1);
}

TEST_CASE("a multicast object is mapped and shared like memory") {
  const fresh_driver cuda(two_devices), other(two_devices);
  cuda.start();
  other.start();
  const memory_handle team = create_team(cuda, 1, 1);
  device_ptr range = 0;
  int file = -1;
  memory_handle imported = 0;
  REQUIRE(CU(cuda, cuMemAddressReserve, &range, 2 * page, 0, 0, 0) == 0);
  CHECK(CU(cuda, cuMemMap, range, 2 * page, 0, team, 0) == 0);
  REQUIRE(CU(cuda, cuMemExportToShareableHandle, &file, team, 1, 0) == 0);
  const auto as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
  REQUIRE(CU(other, cuMemImportFromShareableHandle, &imported, as_pointer, 1) == 0);
  CHECK(CU(other, cuMulticastAddDevice, imported, 0) == 0);
  close(file);
}

TEST_CASE("arguments of multicast objects are checked") {
  const fresh_driver cuda(two_devices);
  cuda.start();
  const memory_handle memory = create_memory(cuda, 0), team = create_team(cuda, 2);
  multicast_properties wanted{0, page, 0, 0};
  memory_handle made = untouched;
  CHECK(CU(cuda, cuMulticastCreate, &made, &wanted) == 1);
  wanted = {1, page + 1, 0, 0};
  CHECK(CU(cuda, cuMulticastCreate, &made, &wanted) == 1);
  CHECK(made == untouched);
  std::size_t granularity = 0;
  CHECK(CU(cuda, cuMulticastGetGranularity, &granularity, &wanted, 0) == 0);
  CHECK(granularity == page);
  CHECK(CU(cuda, cuMulticastAddDevice, memory, 0) == 1);
  CHECK(CU(cuda, cuMulticastAddDevice, team, 9) == 101);
}
