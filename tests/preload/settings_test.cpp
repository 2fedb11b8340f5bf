// What the GPUMEM_* variables change, and that no value of theirs can harm the program.
#include <unistd.h>

#include <algorithm>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

const std::vector<std::string>& session() {
  static const std::vector<std::string> argv{program("route_lookup"), "dlsym"};
  return argv;
}

Journal session_with(Stage& stage, const std::string& name, const std::string& value) {
  const auto bare = stage.run_bare(session());
  stage.set(name, value);
  const auto traced = stage.run_traced(session());
  INFO(name << "=" << value);
  CHECK(traced == bare);
  return stage.journal();
}

}  // namespace

TEST_CASE("settings: a value that makes no sense costs one line and the program nothing") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* name : {"GPUMEM_STACK_DEPTH", "GPUMEM_JOURNAL_MAX", "GPUMEM_REDACT"}) {
    Stage stage;
    auto environment = stage.traced_environment();
    environment[name] = "banana";
    environment["GPUMEM_QUIET"] = "0";
    const auto outcome = stage.run({session(), environment});
    INFO(outcome);
    CHECK(outcome.status == 0);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') ==
          2);  // this one, and the one that names the journal
    CHECK(outcome.err.find(name) != std::string::npos);
    CHECK(stage.journal().allocations_of(10007).size() == 1);
  }
}

TEST_CASE("settings: GPUMEM_STACK_DEPTH cuts stacks and says so") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = session_with(stage, "GPUMEM_STACK_DEPTH", "2");
  const auto stacks = journal.of_type("stack");
  REQUIRE_FALSE(stacks.empty());
  for (const auto& stack : stacks) {
    CHECK(stack.at("f").size() == 2);
    CHECK(stack.at("cut") == true);
  }
}

TEST_CASE("settings: GPUMEM_REDACT leaves out arguments and the working directory") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = session_with(stage, "GPUMEM_REDACT", "1");
  CHECK(journal.process().at("argv") == Line::array({program("route_lookup")}));
  CHECK(journal.process().at("cwd").is_null());
}

TEST_CASE("settings: only variables of the allow-list are recorded") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("SECRET_TOKEN", "tellnobody");
  const auto journal = session_with(stage, "CUDA_VISIBLE_DEVICES", "0");
  CHECK(journal.process().at("env").at("CUDA_VISIBLE_DEVICES") == "0");
  CHECK(read_text(journal.file).find("tellnobody") == std::string::npos);
}

TEST_CASE("settings: a full journal loses lines, counts them, and the program goes on") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = session_with(stage, "GPUMEM_JOURNAL_MAX", "4K");
  CHECK(journal.process().at("t") == "process");
  REQUIRE(journal.has_end());
  const auto end = journal.of_type("end")[0];
  CHECK(end.at("lost").at("lines").get<int>() > 0);
  CHECK(std::filesystem::file_size(journal.file) <= 4096 + end.dump().size() + 1);
}

TEST_CASE("settings: without memory for its tables the shim tracks nothing, says so, and the program goes on") {
  NEEDS(driver);
  Stage stage;
  stage.set("GPUMEM_MEMORY_MAX", "0");
  CHECK(stage.run_traced({demo()}) == stage.run_bare({demo()}));
  const auto journal = stage.journal();
  const auto allocations = journal.allocations();
  REQUIRE_FALSE(allocations.empty());
  for (const auto& line : allocations) {
    CHECK(line.at("untracked") == true);
    CHECK_FALSE(line.contains("i"));
    CHECK(line.at("u") == 0);
  }
  const auto end = journal.of_type("end").at(0);
  CHECK(end.at("lost").at("blocks") == allocations.size());
  CHECK(end.at("peaks").empty());
}

TEST_CASE("settings: a folder that cannot be made leaves the program alone") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto bare = stage.run_bare(session());
  write_text(stage.folder() / "a-file", "");
  stage.set("GPUMEM_DIR", stage.folder() / "a-file/journals").set("TMPDIR", stage.folder());
  CHECK(stage.run_traced(session()) == bare);
  const auto fallback = read_journals(stage.folder() / ("gpumem-" + std::to_string(getuid())));
  REQUIRE(fallback.size() == 1);
  CHECK(fallback[0].allocations_of(10007).size() == 1);
}

TEST_CASE("settings: GPUMEM_CHILDREN=0 keeps the shim from programs that this one starts") {
  Stage stage(Cuda::none);
  const std::vector<std::string> argv{"sh", "-c", "sh -c 'grep -c libgpumemshim /proc/self/maps'"};
  CHECK(stage.run_traced(argv).out != "0\n");
  stage.set("GPUMEM_CHILDREN", "0");
  CHECK(stage.run_traced(argv).out == "0\n");
}
