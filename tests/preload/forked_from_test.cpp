// A forked process says what it comes from, and which call had started CUDA there.
#include <algorithm>

#include "first_failures.hpp"

using namespace gpumem::test;

namespace {

const Journal& of_process(const std::vector<Journal>& journals, int pid) {
  return *std::find_if(journals.begin(), journals.end(), [&](const Journal& each) { return each.pid() == pid; });
}

// That of the process whose calls failed because it is forked from one that had started CUDA.
const Journal& of_child(const std::vector<Journal>& journals) {
  return *std::find_if(journals.begin(), journals.end(), [](const Journal& each) { return !each.failures().empty(); });
}

}  // namespace

TEST_CASE("forked from: the child of a process that had started CUDA names the call that did it") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("first_failures"), "start", "fork", "allocate"});
  const auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  const auto& origin = of_child(journals).process().at("forked_from");
  const auto init = init_of_driver(of_process(journals, origin.at("pid")));
  CHECK(origin.at("initialized") == true);
  CHECK(origin.at("init") == Line({{"api", "cuInit"}, {"ns", init.at("ns")}, {"s", init.at("s")}}));
  CHECK(init.at("s") > 0);
  CHECK(of_child(journals).of_type("device").empty());
}

TEST_CASE("forked from: the call that started CUDA is that of the runtime where the driver started inside it") {
  NEEDS(scripted_driver);
  NEEDS(runtime);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("forked_runtime")});
  const auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  const auto& origin = of_child(journals).process().at("forked_from");
  CHECK(origin.at("init").at("api") == "cudaGetDeviceCount");
  CHECK(origin.at("init").at("ns") == init_of_driver(of_process(journals, origin.at("pid"))).at("ns"));
}

TEST_CASE(
    "forked from: what was forked before the start of CUDA, or from a child that never started it, names no call") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage early;
  early.script(failing("cuCtxCreate_v2", 2));
  early.run_traced({program("first_failures"), "fork", "start", "make_context"});
  CHECK(of_child(read_journals(early.journals())).process().at("forked_from").is_null());

  Stage unstarted;
  unstarted.script({{"rules", {{{"call", "cuInit"}, {"code", 999}, {"nth", 1}}}}});
  unstarted.run_traced({program("first_failures"), "start", "fork", "start"});
  int forked = 0;
  for (const auto& journal : read_journals(unstarted.journals())) {
    const auto& origin = journal.process().at("forked_from");
    if (origin.is_null()) continue;
    ++forked;
    CHECK(origin.at("initialized") == false);
    CHECK_FALSE(origin.contains("init"));
  }
  CHECK(forked == 1);
}

TEST_CASE("forked from: a grandchild leads over its parent to the process that had started CUDA") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage silent;  // between them is a process without calls, and so without a journal
  silent.run_traced({program("first_failures"), "start", "fork", "fork", "allocate"});
  const auto two = read_journals(silent.journals());
  REQUIRE(two.size() == 2);
  CHECK(of_child(two).process().at("forked_from").at("init").at("api") == "cuInit");

  Stage stage;
  stage.run_traced({program("first_failures"), "start", "fork", "allocate", "fork", "allocate"});
  const auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 3);
  int with_init = 0, without = 0;
  for (const auto& journal : journals) {
    const auto& origin = journal.process().at("forked_from");
    if (origin.is_null()) continue;
    origin.contains("init") ? ++with_init : ++without;
    if (!origin.contains("init"))
      CHECK(of_process(journals, origin.at("pid")).process().at("forked_from").contains("init"));
  }
  CHECK(with_init == 1);
  CHECK(without == 1);
}
