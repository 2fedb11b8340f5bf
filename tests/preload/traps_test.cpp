// What interposers have tripped over: one test each.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

std::string library(const std::string& name) { return program(name + ".so"); }

// The session that the route programs share.
void check_session(const Journal& journal) {
  CHECK(journal.allocations_of(10007).size() == 1);
  CHECK(journal.allocations_of(20011).size() == 1);
  CHECK(journal.events("free").size() == 3);
  CHECK(journal.live_at_end().size() == 1);
}

}  // namespace

TEST_CASE("traps: a driver that looks itself up in another driver is passed through, and recorded once") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto real = stage.bare_environment().at("LD_LIBRARY_PATH") + "/libcuda.so.1";
  std::filesystem::create_symlink(library("proxy_driver"), stage.folder() / "libcuda.so.1");
  stage.set("REAL_DRIVER", real).set("LD_LIBRARY_PATH", stage.folder());
  const auto bare = stage.run_bare({program("route_lookup"), "dlsym"});
  CHECK(bare.status == 0);
  CHECK(stage.run_traced({program("route_lookup"), "dlsym"}) == bare);
  check_session(stage.journal());
}

TEST_CASE("traps: a reference to the first version of dlsym is caught like one to the newest") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  CHECK(stage.run_traced({program("old_dlsym")}) == stage.run_bare({program("old_dlsym")}));
  check_session(stage.journal());
}

TEST_CASE("traps: a program with a dlsym of its own is left alone, and the journal says that its calls are not seen") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto bare = stage.run_bare({program("own_dlsym")});
  CHECK(bare.out.find("\n10 lookups\n") != std::string::npos);
  CHECK(stage.run_traced({program("own_dlsym")}) == bare);
  const auto journal = stage.journal();
  CHECK(journal.of_type("event").empty());
  const auto coverage = journal.of_type("coverage");
  REQUIRE(coverage.size() == 1);
  CHECK(coverage[0].at("seen") == false);
}

TEST_CASE("traps: a runtime inside a library that a program opens privately is seen, and named") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuInit"}, {"code", 2}}}}});
  const auto bare = stage.run_bare({program("uses_library"), library("math_library")});
  CHECK(bare.out == "math_create: 2\n");
  CHECK(stage.run_traced({program("uses_library"), library("math_library")}) == bare);
  const auto journal = stage.journal();
  REQUIRE(journal.failures().size() == 1);
  CHECK(journal.failures()[0].at("api") == "cuInit");
  CHECK(journal.failures()[0].at("start") == true);
  bool named = false;
  for (const auto& module : journal.of_type("module"))
    named |= module.at("role") == "static_runtime" && module.at("path") == library("math_library");
  CHECK(named);
  const auto report = stage.gpumem({"failures", stage.journals()});
  CHECK(report.out.find("math_create") != std::string::npos);
}

TEST_CASE("traps: a thousand libraries cost no correctness") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto copies = stage.folder() / "libraries";
  std::filesystem::create_directory(copies);
  for (int i = 0; i < 1000; ++i)
    std::filesystem::copy_file(library("small_library"), copies / ("copy" + std::to_string(i) + ".so"));
  const auto bare = stage.run_bare({program("many_libraries"), copies});
  CHECK(bare.out.find("opened 1000") == 0);
  CHECK(stage.run_traced({program("many_libraries"), copies}) == bare);
  check_session(stage.journal());
}

TEST_CASE("traps: libraries that come and go while others allocate") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "4G");
  const std::string rounds = full() ? "20000" : "2000";
  const auto outcome = stage.run({{program("loader_storm"), library("small_library"), rounds},
                                  stage.traced_environment(),
                                  {},
                                  std::chrono::seconds(600)});
  INFO(outcome);
  CHECK_FALSE(outcome.timed_out);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("0 failures, 0 libraries missing") != std::string::npos);
  CHECK(stage.journal().live_at_end().empty());
}

TEST_CASE("traps: children of a process whose threads allocate end as they should, and its totals are right") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const std::string children = full() ? "1000" : "60";
  const auto outcome =
      stage.run({{program("fork_storm"), children}, stage.traced_environment(), {}, std::chrono::seconds(600)});
  INFO(outcome);
  CHECK_FALSE(outcome.timed_out);
  CHECK(outcome.out.find("0 children ended otherwise than they should") != std::string::npos);
  int parents = 0;
  for (const auto& journal : read_journals(stage.journals())) {
    if (!journal.process().at("forked_from").is_null()) {
      CHECK(journal.process().at("forked_from").at("initialized") == true);
      CHECK(journal.allocations().empty());
      continue;
    }
    ++parents;
    CHECK(journal.live_at_end().size() == 8);
    CHECK(journal.allocations().size() + 0u == std::stoul(outcome.err));
  }
  CHECK(parents == 1);
}

TEST_CASE("traps: three hundred processes at once") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto outcome = stage.run_traced(
      {"sh", "-c", "for i in $(seq 300); do \"$0\" return > /dev/null & done; wait", program("exits")});
  CHECK(outcome.status == 0);
  const auto journals = read_journals(stage.journals());
  CHECK(journals.size() == 300);
  for (const auto& journal : journals) {
    CHECK(journal.allocations_of(7013).size() == 1);
    CHECK(journal.has_end());
  }
}

TEST_CASE("traps: blocks belong to the device they were taken from, whichever is current when they are freed") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {Line::object(), Line::object()}}});
  const auto bare = stage.run_bare({program("two_devices")});
  CHECK(bare.out.find("frees pitched memory: 0") != std::string::npos);
  CHECK(stage.run_traced({program("two_devices")}) == bare);
  const auto journal = stage.journal();
  const auto pitched = journal.allocations("pitched").at(0).at("n");
  for (const Line& bytes : {Line(10007), Line(20011), pitched}) {
    INFO(bytes);
    const auto taken = journal.allocations_of(bytes).at(0);
    Line given_back;
    for (const auto& event : journal.events("free"))
      if (event.value("i", 0) == taken.at("i")) given_back = event;
    REQUIRE_FALSE(given_back.is_null());
    CHECK(taken.at("d") == 0);
    CHECK(given_back.at("d") == 0);
    CHECK(given_back.at("u") == 0);
  }
  REQUIRE(journal.live_at_end().size() == 1);
  CHECK(journal.live_at_end()[0].at("d") == 1);
  const auto peaks = journal.of_type("end").at(0).at("peaks");
  for (const auto& peak : peaks)
    CHECK(peak.at("bytes") == (peak.at("k") == "async"     ? Line(20011)
                               : peak.at("k") == "pitched" ? pitched
                               : peak.at("d") == 0         ? Line(10007)
                                                           : Line(30011)));
  CHECK(peaks.size() == 4);
}
