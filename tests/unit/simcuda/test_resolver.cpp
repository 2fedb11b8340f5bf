// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

struct row {
  const char* name;
  const char* mode;
  int version;
  const char* export_name;
};

const row table[] = {
#define RESOLVES(name, mode, version, entry, origin) {#name, #mode, version, #entry},
#include "driver/resolver_table.def"
#undef RESOLVES
};

struct answer {
  int code;
  void* entry;
  int found;
};

answer look_up(const fresh_driver& cuda, const char* name, int version, std::uint64_t flags) {
  answer result{0, &result, 77};
  result.code = CU(cuda, cuGetProcAddress_v2, name, &result.entry, version, flags, &result.found);
  return result;
}

}  // namespace

TEST_CASE("every row of the table hands out the export that it names") {
  const fresh_driver cuda;
  for (const row& one : table) {
    for (const std::uint64_t flags : {0, 1, 2}) {
      const std::string mode = one.mode;
      if ((mode == "legacy" && flags == 2) || (mode == "per_thread" && flags != 2)) continue;
      const answer got = look_up(cuda, one.name, one.version, flags);
      INFO(one.name << " " << one.version << " " << flags);
      CHECK(got.code == 0);
      CHECK(got.found == 0);
      CHECK(got.entry == cuda.symbol(one.export_name));
    }
  }
}

TEST_CASE("one name, several interfaces") {
  const fresh_driver cuda;
  const auto expect = [&](const char* name, int version, const char* export_name) {
    INFO(name << " " << version);
    CHECK(look_up(cuda, name, version, 0).entry == cuda.symbol(export_name));
  };
  expect("cuMemAlloc", 2000, "cuMemAlloc");
  expect("cuMemAlloc", 3020, "cuMemAlloc_v2");
  expect("cuCtxCreate", 3020, "cuCtxCreate_v2");
  expect("cuCtxCreate", 11040, "cuCtxCreate_v3");
  expect("cuCtxCreate", 12040, "cuCtxCreate_v3");
  expect("cuCtxCreate", 13000, "cuCtxCreate_v4");
  expect("cuGetProcAddress", 11030, "cuGetProcAddress");
  expect("cuGetProcAddress", 12000, "cuGetProcAddress_v2");
  expect("cuMemAlloc", 99999, "cuMemAlloc_v2");  // above the driver's own version
}

TEST_CASE("a driver does not know what is newer than itself") {
  const fresh_driver cuda(R"({"driver_version": 12040})");
  CHECK(look_up(cuda, "cuCtxCreate", 13000, 0).entry == cuda.symbol("cuCtxCreate_v3"));
  CHECK(look_up(cuda, "cuLogsCurrent", 13000, 0).found == 1);
}

TEST_CASE("what is not found succeeds with a null pointer and a reason") {
  const fresh_driver cuda;
  for (const auto& [name, version, found] : {std::tuple{"cuMemAlloc_v2", 13000, 1},
                                             {"cuNoSuchThing", 13000, 1},
                                             {"cuMemAllocAsync", 3020, 2},
                                             {"cuMemAlloc", 0, 2},
                                             {"", 0, 1},
                                             {"", 12000, 1}}) {
    INFO(name << " " << version);
    const answer got = look_up(cuda, name, version, 0);
    CHECK(got.code == 0);
    CHECK(got.entry == nullptr);
    CHECK(got.found == found);
  }
  CHECK(look_up(cuda, "cuMemAlloc", 3020, 4).code == 1);
  void* entry = nullptr;
  CHECK(CU(cuda, cuGetProcAddress_v2, "", &entry, 0, 0, nullptr) == 0);
  CHECK(CU(cuda, cuGetProcAddress, "cuMemAlloc_v2", &entry, 13000, 0) == 500);
  CHECK(CU(cuda, cuGetProcAddress, "cuMemAlloc", &entry, 13000, 0) == 0);
}

TEST_CASE("no two exports share an address") {
  const fresh_driver cuda;
  std::map<void*, std::string> seen;
  for (const row& one : table) {
    const auto [known, is_new] = seen.emplace(cuda.symbol(one.export_name), one.export_name);
    CHECK(known->second == one.export_name);
  }
}
