// Names for addresses where that is hard: deep stacks, huge names, files that are stripped, gone, replaced or unloaded,
// and very many addresses.
#include <chrono>
#include <iostream>
#include <sstream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

// A session inside a library of the stage's own, which may then be changed.
std::filesystem::path traced_library(const Stage& stage, const std::string& name, bool stripped) {
  const auto file = stage.folder() / name;
  std::filesystem::copy_file(program("session_plugin.so"), file);
  if (stripped) REQUIRE(run({{"strip", file}, plain_environment()}).status == 0);
  const auto outcome = stage.run_traced({program("unloads"), file});
  INFO(outcome);
  REQUIRE(outcome.out.find("closed: 0\ngone: 1\n") != std::string::npos);
  return file;
}

std::string report(const Stage& stage, const std::filesystem::path& path) {
  const auto outcome = stage.gpumem({"report", path});
  CHECK(outcome.status == 0);
  return outcome.out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("symbols: a stack of two hundred functions with names of four thousand characters") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_STACK_DEPTH", "256");
  CHECK(stage.run_traced({program("deep_names")}) == stage.run_bare({program("deep_names")}));
  const auto journal = stage.journal();
  const auto allocation = journal.allocations_of(7001).at(0);
  CHECK(journal.modules_of_stack(allocation.at("s")).size() >= 200);
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = stage.gpumem({"leaks", "--format", "json", stage.journals()});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  REQUIRE(outcome.status == 0);
  const auto frames = Line::parse(outcome.out).at("processes").at(0).at("leaks").at(0).at("site").at("frames");
  int deep = 0;
  for (const auto& frame : frames)
    deep += !frame.at("function").is_null() && frame.at("function").get<std::string>().size() > 4000 &&
            has(frame.at("function"), "sixteen_letters_");
  CHECK(deep == 200);
}

TEST_CASE("symbols: a library that was unloaded before the end still has names") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  traced_library(stage, "plugin.so", false);
  const auto text = report(stage, stage.journals());
  CHECK(has(text, "work"));
  CHECK_FALSE(has(text, "No names from"));
}

TEST_CASE("symbols: a stripped library gives its file and the place in it") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  traced_library(stage, "plugin.so", true);
  CHECK(has(report(stage, stage.journals()), "plugin.so+0x"));
}

TEST_CASE("symbols: a library that was deleted after the run costs its names, and the report says which file") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  std::filesystem::remove(traced_library(stage, "plugin.so", false));
  const auto text = report(stage, stage.journals());
  CHECK(has(text, "plugin.so+0x"));
  CHECK(has(text, "missing"));
}

TEST_CASE("symbols: a folder of a run reads the same where its libraries are not") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto file = stage.folder() / "plugin.so";
  std::filesystem::copy_file(program("session_plugin.so"), file);
  REQUIRE(stage.gpumem({"run", "--quiet", "-o", stage.journals(), "--", program("unloads"), file}).status == 0);
  const auto here = report(stage, stage.journals());
  CHECK(has(here, "work"));
  std::filesystem::remove(file);
  std::filesystem::remove_all(stage.folder() / "cache");
  CHECK(report(stage, stage.journals()) == here);
}

TEST_CASE("symbols: a library that was replaced after the run gives no wrong names") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto file = traced_library(stage, "plugin.so", false);
  std::filesystem::copy_file(program("small_library.so"), file, std::filesystem::copy_options::overwrite_existing);
  const auto text = report(stage, stage.journals());
  CHECK(has(text, "plugin.so+0x"));
  CHECK(has(text, "replaced"));
}

TEST_CASE("symbols: fifty thousand addresses have names within seconds") {
  NEEDS(driver);
  NEEDS(nvcc);
  // A journal of a real process, with many more blocks, each from a place of its own in the collector's own code.
  Stage stage;
  stage.run_traced({program("route_lookup"), "dlsym"});
  std::ostringstream text;
  text << Line(stage.journal().process()).dump() << '\n';
  text << Line{{"t", "module"}, {"ns", 1}, {"tid", 1}, {"id", 1}, {"path", collector()}, {"build_id", nullptr}}.dump()
       << '\n';
  constexpr int addresses = 50'000, first = 0x20000, step = 16;
  for (int i = 1; i <= addresses; ++i) {
    std::ostringstream offset;
    offset << "1:0x" << std::hex << first + i * step;
    text << Line{{"t", "stack"}, {"ns", 2}, {"tid", 1}, {"id", i}, {"f", {offset.str()}}}.dump() << '\n'
         << Line{{"t", "event"},
                 {"ns", 2 + i},
                 {"tid", 1},
                 {"op", "alloc"},
                 {"api", "cudaMalloc"},
                 {"i", i},
                 {"k", "device"},
                 {"p", offset.str().substr(2)},
                 {"n", 512},
                 {"d", 0},
                 {"c", 1},
                 {"s", i}}
                .dump()
         << '\n';
  }
  const auto file = stage.folder() / "gpumem-host-1-2-0.0.jsonl";
  write_text(file, text.str());
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = stage.gpumem({"leaks", "--format", "json", file});
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << addresses << " addresses: " << seconds << " s\n";
  REQUIRE(outcome.status == 0);
  CHECK(seconds < 30);
  const auto parsed = Line::parse(outcome.out);
  const auto& leaks = parsed.at("processes").at(0).at("leaks");
  int named = 0;
  for (const auto& leak : leaks)
    for (const auto& frame : leak.at("site").at("frames")) named += !frame.at("function").is_null();
  CHECK(named > 1000);
}
