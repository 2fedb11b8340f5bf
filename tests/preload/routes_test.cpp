// However a program finds the driver's functions, its session is recorded in the same way.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

Journal session(Stage& stage, std::vector<std::string> argv) {
  const auto outcome = stage.run_traced(std::move(argv));
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(10007).size() == 1);
  CHECK(journal.allocations_of(20011).size() == 1);
  CHECK(journal.allocations_of(30011).at(0).at("k") == "managed");
  CHECK(journal.allocations_of(40009).at(0).at("k") == "pinned");
  CHECK(journal.events("free").size() == 3);
  CHECK(journal.failures().size() == 2);
  REQUIRE(journal.live_at_end().size() == 1);
  CHECK(journal.live_at_end()[0].at("n") == 10007);
  return journal;
}

Line routes(const Journal& journal) { return journal.of_type("end").at(0).at("routes"); }

}  // namespace

TEST_CASE("routes: a program linked with the driver") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto counts = routes(session(stage, {program("route_linked")}));
  CHECK(counts.at("linked").get<int>() >= 7);
  CHECK(counts.at("dlsym") == 0);
  CHECK(counts.at("resolver") == 0);
  CHECK(counts.at("unrecognised") == 0);
}

TEST_CASE("routes: dlsym of a handle") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto counts = routes(session(stage, {program("route_lookup"), "dlsym"}));
  CHECK(counts.at("dlsym").get<int>() >= 8);
  CHECK(counts.at("linked") == 0);
  CHECK(counts.at("unrecognised") == 0);
}

TEST_CASE("routes: dlsym of the global scope") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  session(stage, {program("route_linked"), "default"});
}

TEST_CASE("routes: both ABIs of cuGetProcAddress, and the resolver that the resolver hands out") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* route : {"resolver", "resolver_v2", "resolver_from_resolver"}) {
    INFO(route);
    Stage stage;
    const auto counts = routes(session(stage, {program("route_lookup"), route}));
    CHECK(counts.at("resolver").get<int>() >= 8);
    CHECK(counts.at("unrecognised") == 0);
  }
}

TEST_CASE("routes: cudaGetDriverEntryPoint and cudaGetDriverEntryPointByVersion") {
  NEEDS(driver);
  NEEDS(runtime);
  for (const char* route : {"any", "by_version"}) {
    INFO(route);
    Stage stage;
    const auto counts = routes(session(stage, {program("route_entry_point"), route}));
    CHECK(counts.at("resolver").get<int>() >= 8);
  }
}

TEST_CASE("routes: a look-up that the shim does not own gets the real answer") {
  NEEDS(driver);
  Stage stage;
  const auto bare = stage.run_bare({program("conformance_driver"), "careful"});
  CHECK(bare.out.find("cuNoSuchFunction: not found, undefined symbol: cuNoSuchFunction") == 0);
  CHECK(stage.run_traced({program("conformance_driver"), "careful"}).out.substr(0, 40) == bare.out.substr(0, 40));
}
