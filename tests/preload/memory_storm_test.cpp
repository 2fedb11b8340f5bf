// Many threads at once: no block is lost, none is told of twice, and the totals balance.
#include <map>

#include "stage.hpp"

using namespace gpumem::test;

TEST_CASE("memory storm: sixteen threads that free each other's blocks leave every total at zero") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {{{"name", "first"}}, {{"name", "second"}}}}, {"reuse", "at_once"}});
  stage.set("GPUMEM_JOURNAL_MAX", "8G");
  // In a build with sanitizers they end the program with a code of their own. AddressSanitizer wants to be the first
  // library, which the shim must be.
  stage.set("ASAN_OPTIONS", "verify_asan_link_order=0").set("UBSAN_OPTIONS", "halt_on_error=1");
  const auto outcome = stage.run(
      {{program("memory_storm"), full() ? "60" : "3"}, stage.traced_environment(), {}, std::chrono::seconds(300)});
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  const auto journal = stage.journal();
  CHECK(journal.of_type("end")[0].at("lost").at("lines") == 0);
  // One physical block makes two mappings of address space: a reservation and a mapping.
  std::uint64_t made = 0;
  for (const Line& line : journal.events("alloc")) {
    const std::string kind = line.at("k");
    made += kind != "reserved" && kind != "mapped" && kind != "stream";
  }
  CHECK(made == std::stoull(outcome.err));
  CHECK(journal.failures().size() == 16);
  const auto probes = journal.of_type("probe");
  REQUIRE_FALSE(probes.empty());
  CHECK(probes[0].at("status") == "ok");
  CHECK(journal.live_at_end().empty());
  std::map<std::uint64_t, int> ends;
  std::map<std::string, std::uint64_t> live;  // after the last free of each kind on each device
  for (const Line& line : journal.events("free")) {
    REQUIRE(line.contains("i"));
    ++ends[line.at("i")];
    live[line.at("k").get<std::string>() + std::to_string(line.value("d", -1))] = line.at("u");
  }
  CHECK(live.size() >= 10);
  for (const auto& [total, bytes] : live) {
    INFO(total);
    CHECK(bytes == 0);
  }
  for (const auto& [block, count] : ends) CHECK(count == 1);
}
