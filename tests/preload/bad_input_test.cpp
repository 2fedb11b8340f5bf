// What is not a journal, or only a piece of one, gets one clear sentence and exit status 2; --lenient shows what is
// there.
#include <algorithm>
#include <set>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

const std::vector<std::string> commands{"report", "leaks", "peak", "failures"};

// A real journal, written by the shim.
std::string real_journal(Stage& stage) {
  const auto outcome = stage.run_traced({program("route_lookup"), "dlsym"});
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  return read_text(stage.journal().file);
}

void check_refused(const Stage& stage, const std::filesystem::path& input, const std::string& named) {
  for (const auto& command : commands) {
    const auto outcome = stage.gpumem({command, input});
    INFO("gpumem " << command << " " << input);
    INFO(outcome);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.find(named) != std::string::npos);
  }
}

std::filesystem::path written(const Stage& stage, const std::string& text) {
  const auto file = stage.folder() / "gpumem-host-1-2-0.0.jsonl";
  write_text(file, text);
  return file;
}

}  // namespace

TEST_CASE("bad input: nothing there, nothing in it") {
  Stage stage(Cuda::none);
  check_refused(stage, stage.folder() / "nowhere.jsonl", "nowhere.jsonl");
  check_refused(stage, written(stage, ""), "gpumem-host-1-2-0.0.jsonl");
  check_refused(stage, written(stage, std::string(4096, '\0')), "gpumem-host-1-2-0.0.jsonl");
  std::filesystem::create_directory(stage.folder() / "empty");
  check_refused(stage, stage.folder() / "empty", "empty");
}

TEST_CASE("bad input: another program's file") {
  Stage stage(Cuda::none);
  check_refused(stage, written(stage, "{\"event\":\"login\",\"user\":7}\n"), "gpumem-host-1-2-0.0.jsonl:1");
  check_refused(stage, written(stage, "[1,2,3]\n"), "gpumem-host-1-2-0.0.jsonl:1");
  check_refused(stage, written(stage, "not JSON at all\n"), "gpumem-host-1-2-0.0.jsonl:1");
  check_refused(stage, program("exits"), "exits");
}

TEST_CASE("bad input: a journal of a newer schema") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  auto text = real_journal(stage);
  const auto at = text.find("\"schema\":1");
  REQUIRE(at != std::string::npos);
  text.replace(at, 10, "\"schema\":7");
  const auto file = written(stage, text);
  check_refused(stage, file, "7");
  check_refused(stage, file, file.filename().string());
}

TEST_CASE("bad input: a broken line in the middle is named by its number, and --lenient leaves it out") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  auto text = real_journal(stage);
  const auto second_line = text.find('\n') + 1;
  text.insert(second_line, "{\"t\":\"event\",\"ns\":12,\n");
  const auto file = written(stage, text);
  check_refused(stage, file, file.filename().string() + ":2");
  const auto lenient = stage.gpumem({"report", "--lenient", file});
  INFO(lenient);
  CHECK(lenient.status == 0);
  CHECK_FALSE(lenient.out.empty());
}

// A killed process tears a line; a copied or truncated file ends in one. Either way the rest is a valid journal, unless
// the process line itself is cut.
TEST_CASE("bad input: a journal that is cut at any byte is reported up to there or refused in one sentence") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto text = real_journal(stage);
  const auto first_line = text.find('\n') + 1;
  std::set<std::size_t> cuts{0, 1, first_line - 1, first_line, first_line + 1};
  for (std::size_t cut = 2; cut < text.size(); cut += full() ? 1 : 97) cuts.insert(cut);
  for (const auto cut : cuts) {
    INFO("cut at byte " << cut);
    const auto outcome = stage.gpumem({"report", written(stage, text.substr(0, cut))});
    INFO(outcome);
    CHECK_FALSE(outcome.signal);
    const bool torn_line = outcome.status == 2 && std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1 &&
                           outcome.err.find("gpumem-host-1-2-0.0.jsonl") != std::string::npos;
    const bool reported = outcome.status == 0 && cut >= first_line && !outcome.out.empty();
    CHECK((torn_line || reported));
    const auto lenient = stage.gpumem({"report", "--lenient", stage.folder() / "gpumem-host-1-2-0.0.jsonl"});
    CHECK(lenient.status == (cut >= first_line ? 0 : 2));
  }
}
