// NVTX's marks and ranges in the journal, and a program that does not notice.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

Stage& with_nvtx(Stage& stage) { return stage.set("NVTX_INJECTION64_PATH", shim()); }

Outcome run_without_tool(const Stage& stage, std::vector<std::string> argv) {
  auto environment = stage.bare_environment();
  environment.erase("NVTX_INJECTION64_PATH");
  return stage.run({std::move(argv), environment});
}

}  // namespace

TEST_CASE(
    "marks: those of NVTX, with ranges two deep, are in the journal; the functions return what they return without") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  CHECK(with_nvtx(stage).run_traced({program("nvtx_marks")}) == run_without_tool(stage, {program("nvtx_marks")}));
  Lines told;
  for (auto line : stage.journal().of_type("mark")) {
    for (const char* key : {"t", "ns", "tid"}) line.erase(key);
    told.push_back(line);
  }
  CHECK(Line(told) == Line::array({{{"from", "nvtx"}, {"text", "training"}, {"depth", 0}},
                                   {{"from", "nvtx"}, {"text", "epoch \"3\""}, {"depth", 1}},
                                   {{"from", "nvtx"}, {"end", true}, {"depth", 1}},
                                   {{"from", "nvtx"}, {"end", true}, {"depth", 0}},
                                   {{"from", "nvtx"}, {"text", "after"}},
                                   {{"from", "nvtx"}, {"text", "registered"}, {"depth", 0}},
                                   {{"from", "nvtx"}, {"end", true}, {"depth", 0}},
                                   {{"from", "nvtx"}, {"text", "registered"}}}));
}

TEST_CASE("marks: a flood of them is cut, and how many are missing is said") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  with_nvtx(stage).run_traced({program("nvtx_marks"), "1000000"});
  const auto marks = stage.journal().of_type("mark");
  CHECK(marks.size() >= 20);
  CHECK(marks.size() <= 200);
  // Those after the last line are in none.
  std::uint64_t left_out = 0;
  for (const auto& mark : marks) left_out += mark.value("left_out", std::uint64_t{0});
  CHECK(left_out + marks.size() <= 1000000);
}

TEST_CASE("marks: a process that makes no CUDA call leaves no journal for their sake") {
  NEEDS(nvcc);
  Stage stage(Cuda::none);
  const auto outcome = with_nvtx(stage).run_traced({program("nvtx_marks")});
  CHECK(outcome.status == 3);
  CHECK(read_journals(stage.journals()).empty());
}

TEST_CASE("marks: gpumem run asks for them, unless the user has another tool") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* before : {"", "/nowhere/tool.so"}) {
    Stage stage;
    if (*before != '\0') stage.set("NVTX_INJECTION64_PATH", before);
    const auto outcome =
        stage.gpumem({"run", "--quiet", "--no-symbolize", "-o", stage.journals(), "--", program("nvtx_marks")});
    CHECK(outcome.status == 0);
    CHECK(stage.journal().of_type("mark").empty() == (*before != '\0'));
  }
}
