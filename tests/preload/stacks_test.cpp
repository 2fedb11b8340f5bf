// How native stacks are captured in real programs: by which way, and that each gives the same.
#include <set>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

Line stacks_told_by(Stage& stage, const std::vector<std::string>& argv) {
  stage.set("GPUMEM_JOURNAL_MAX", "8G");
  const auto outcome = stage.run({argv, stage.traced_environment(), {}, std::chrono::seconds(300)});
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  const auto end = stage.journal().of_type("end");
  REQUIRE(end.size() == 1);
  return end.front().at("stacks");
}

// All were checked but those that Boost had captured anyway.
void check_verified(const Line& stacks) {
  INFO(stacks);
  CHECK(stacks.at("wrong") == 0);
  CHECK(stacks.at("memo") > 0);
  CHECK(stacks.at("checked") == stacks.at("memo").get<int>() + stacks.at("rules").get<int>());
}

std::set<std::string> frames_of(const Journal& journal) {
  std::set<std::string> all;
  for (const Line& stack : journal.of_type("stack")) all.insert(stack.at("f").dump());
  return all;
}

}  // namespace

TEST_CASE("stacks: none is walked wrongly in sixteen threads that allocate") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {{{"name", "first"}}, {{"name", "second"}}}}, {"reuse", "at_once"}});
  stage.set("GPUMEM_VERIFY_STACKS", "1");
  const auto stacks = stacks_told_by(stage, {program("memory_storm"), "1"});
  check_verified(stacks);
  CHECK(stacks.at("fallback") == 0);
}

TEST_CASE("stacks: none is walked wrongly while libraries come and go") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_VERIFY_STACKS", "1");
  check_verified(stacks_told_by(
      stage, {program("loader_storm"), program("small_library.so"), "300", full() ? "1000000" : "100000"}));
}

TEST_CASE("stacks: none is walked wrongly under a Python interpreter") {
  NEEDS(driver);
  NEEDS(python_clients);
  Stage stage;
  stage.set("GPUMEM_VERIFY_STACKS", "1");
  const auto stacks = stacks_told_by(stage, {client_python(), python_program("bindings_session.py")});
  INFO(stacks);
  CHECK(stacks.at("wrong") == 0);
  CHECK(stacks.at("checked") > 0);
  CHECK(stacks.at("fallback") == 0);
}

TEST_CASE("stacks: every way of capturing them records the same") {
  NEEDS(driver);
  NEEDS(nvcc);
  std::set<std::string> frames;
  for (const std::string way : {"boost", "rules", "auto"}) {
    Stage stage;
    stage.set("GPUMEM_UNWINDER", way);
    const auto stacks = stacks_told_by(stage, {program("route_lookup"), "dlsym"});
    INFO(way << " " << stacks);
    CHECK((stacks.at("fallback") > 0) == (way == "boost"));
    CHECK((stacks.at("rules") > 0) == (way != "boost"));
    CHECK(stacks.at("checked") == 0);
    const auto found = frames_of(stage.journal());
    CHECK_FALSE(found.empty());
    if (way == "boost") frames = found;
    CHECK(found == frames);
  }
}

TEST_CASE("stacks: the report says how many had been walked wrongly") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_VERIFY_STACKS", "1");
  stacks_told_by(stage, {program("route_lookup"), "dlsym"});
  const auto said = [&] { return stage.gpumem({"report", stage.journals()}).out.find("had been walked wrongly"); };
  CHECK(said() == std::string::npos);
  const auto path = stage.journal().file;
  std::string text = read_text(path);
  const std::string none = "\"wrong\":0";
  REQUIRE(text.find(none) != std::string::npos);
  text.replace(text.rfind(none), none.size(), "\"wrong\":3");
  write_text(path, text);
  CHECK(said() != std::string::npos);
}

TEST_CASE("stacks: a thread whose own stack is as small as can be allocates as without the shim") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const std::string way : {"auto", "rules", "boost", "verified"}) {
    INFO(way);
    Stage stage;
    way == "verified" ? stage.set("GPUMEM_VERIFY_STACKS", "1") : stage.set("GPUMEM_UNWINDER", way);
    const auto outcome =
        stage.run({{program("small_stacks")}, stage.traced_environment(), {}, std::chrono::seconds(60)});
    INFO(outcome);
    CHECK(outcome.status == 0);
    const auto allocations = stage.journal().allocations_of(4099);
    REQUIRE(allocations.size() == 3);
    for (const Line& each : allocations) CHECK(each.at("s") > 0);
  }
}
