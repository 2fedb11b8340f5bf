// Journals that outgrow their bound: what stays of them is enough to know what is live, what each call site holds, and
// every peak.
#include <signal.h>

#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

// What `churn` says is left: bytes by address.
using Left = std::map<std::string, std::uint64_t>;

Left left_by(const Stage& stage, std::uint64_t* peak = nullptr) {
  Left left;
  std::istringstream lines(read_text(stage.folder() / "left"));
  std::string word;
  for (std::uint64_t bytes; lines >> word;) {
    if (word == "peak" && lines >> bytes && peak != nullptr) *peak = bytes;
    if (word.rfind("0x", 0) == 0 && lines >> bytes) left[word] = bytes;
  }
  return left;
}

Left left_in(const Journal& journal) {
  Left left;
  for (const auto& block : journal.live_at_end())
    if (block.at("k") == "device") left[block.at("p")] = block.at("n");
  return left;
}

std::vector<std::string> churn(const Stage& stage, const std::string& rounds, const std::string& kept,
                               const std::string& threads = "1") {
  return {program("churn"), rounds, kept, "0", threads, stage.folder() / "left"};
}

std::uintmax_t bytes_in(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

Lines checkpoints(const Journal& journal, const std::string& part) {
  Lines found;
  for (const auto& line : journal.of_type("checkpoint"))
    if (line.at("part") == part) found.push_back(line);
  return found;
}

// Whatever a line refers to by a number is in its own segment.
void check_references(const Journal& journal) {
  std::set<std::uint64_t> modules, places, stacks;
  bool only_beginning = false;
  for (const auto& line : journal.lines) {
    const std::string type = line.at("t");
    if (type == "process") modules.clear(), places.clear(), stacks.clear();
    if (type == "module") modules.insert(line.at("id").get<std::uint64_t>());
    if (type == "python") places.insert(line.at("id").get<std::uint64_t>());
    only_beginning |= type == "checkpoint" && line.at("part") == "cut";
    if (type == "stack") {
      stacks.insert(line.at("id").get<std::uint64_t>());
      for (const std::string frame : line.at("f")) {
        const bool python = frame.rfind("py:", 0) == 0;
        const auto number = std::stoull(python ? frame.substr(3) : frame);
        INFO(line);
        REQUIRE((number == 0 || (python ? places : modules).count(number) == 1));
      }
    }
    if (line.value("s", std::uint64_t{0}) != 0) {
      INFO(line);
      REQUIRE(stacks.count(line.at("s").get<std::uint64_t>()) == 1);
    }
  }
  CHECK(only_beginning);
}

}  // namespace

TEST_CASE("segments: of a long run what is live, every total and its peak are known, within the bound") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "1M");
  const auto outcome = stage.run_traced(churn(stage, full() ? "20000000" : "60000", "200"));
  REQUIRE(outcome.status == 0);
  std::uint64_t peak = 0;
  const auto left = left_by(stage, &peak);
  REQUIRE(left.size() == 200);
  const auto journal = stage.journal();
  CHECK(bytes_in(stage.journals()) <= 1u << 20);
  CHECK(left_in(journal) == left);
  const auto end = journal.of_type("end").at(0);
  CHECK(end.at("lost") == Line{{"blocks", 0}, {"lines", 0}, {"stacks", 0}});
  CHECK(end.at("peaks") == Line::array({{{"bytes", peak}, {"d", 0}, {"k", "device"}}}));
  check_references(journal);
}

TEST_CASE("segments: a checkpoint tells each site's share, also of the peak, and the exact totals") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "1M");
  REQUIRE(stage.run_traced(churn(stage, "60000", "200")).status == 0);
  const auto journal = stage.journal();
  const auto begins = checkpoints(journal, "begin"), ends = checkpoints(journal, "end");
  REQUIRE(begins.size() > 10);
  REQUIRE(ends.size() > 2);
  const auto& begin = begins.back();
  CHECK(begin.at("n") == ends.back().at("n"));
  CHECK(begin.at("dropped").at("segments") > 5);
  REQUIRE(begin.at("contexts").size() == 1);
  CHECK(begin.at("contexts")[0].at("primary") == true);
  const auto& total = begin.at("totals").at(0);
  CHECK(total.at("k") == "device");
  Lines sites;
  std::uint64_t listed = 0;
  for (auto line = journal.lines.rbegin(); *line != begin; ++line) {
    if (line->at("t") == "site") sites.push_back(*line);
    if (line->at("t") == "live") listed += line->at("blocks").size();
  }
  CHECK(listed == ends.back().at("blocks"));
  REQUIRE(sites.size() == 1);
  CHECK(ends.back().at("sites") == 1);
  CHECK(sites[0].at("allocs") >= begin.at("last_block"));
  CHECK(sites[0].at("blocks") >= 199);
  CHECK(sites[0].at("at_peak") == begin.at("snapshots")[0].at("bytes"));
  CHECK(sites[0].at("at_peak").get<double>() >= 0.99 * begin.at("summits")[0].at("bytes").get<double>());
  CHECK(begin.at("summits")[0].at("bytes") == total.at("peak"));
}

TEST_CASE("segments: threads that allocate while segments begin") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "8M");
  const auto outcome = stage.run_traced(churn(stage, full() ? "500000" : "25000", "100", "8"));
  REQUIRE(outcome.status == 0);
  const auto journal = stage.journal();
  REQUIRE(left_by(stage).size() == 800);
  CHECK(left_in(journal) == left_by(stage));
  CHECK(journal.of_type("end").at(0).at("lost").at("lines") == 0);
  check_references(journal);
}

TEST_CASE("segments: more live blocks than a checkpoint has room for are not listed, and their sites are") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "1M");
  REQUIRE(stage.run_traced(churn(stage, "40000", "8000")).status == 0);
  const auto journal = stage.journal();
  CHECK(bytes_in(stage.journals()) <= 1u << 20);
  CHECK(journal.of_type("end").at(0).at("lost").at("lines") == 0);
  const auto ends = checkpoints(journal, "end");
  REQUIRE(!ends.empty());
  CHECK_FALSE(ends.back().contains("blocks"));
  CHECK(journal.of_type("site").back().at("blocks") >= 7999);
}

TEST_CASE("segments: GPUMEM_EVENTS=0 writes no line per allocation, and what each site holds") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_EVENTS", "0");
  const auto outcome = stage.run_traced(churn(stage, "60000", "200"));
  REQUIRE(outcome.status == 0);
  std::uint64_t peak = 0, left = 0;
  for (const auto& [address, bytes] : left_by(stage, &peak)) left += bytes;
  const auto journal = stage.journal();
  CHECK(journal.process().at("events") == false);
  CHECK(journal.allocations().empty());
  CHECK(journal.events("free").empty());
  CHECK(journal.events("context").size() == 1);
  CHECK(bytes_in(stage.journals()) < 40'000);
  const auto sites = journal.of_type("site");
  REQUIRE(!sites.empty());
  CHECK(sites.back().at("live") == left);
  CHECK(sites.back().at("blocks") == 200);
  CHECK(sites.back().at("allocs") == 60000);
  CHECK(journal.modules_of_stack(sites.back().at("s")).front() == program("churn"));
  CHECK(journal.of_type("end").at(0).at("peaks")[0].at("bytes") == peak);
  CHECK(checkpoints(journal, "end").size() == checkpoints(journal, "begin").size());
}

TEST_CASE("segments: under GPUMEM_EVENTS=0 checkpoints come while it runs, for whoever looks or for a kill") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_EVENTS", "0");
  const auto outcome = stage.run({{program("churn"), "1000000", "20", "2000"},
                                  stage.traced_environment(),
                                  {},
                                  std::chrono::seconds(60),
                                  [](int pid) {
                                    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
                                    kill(pid, SIGKILL);
                                  }});
  REQUIRE(outcome.signal == SIGKILL);
  const auto journal = stage.journal();
  const auto ends = checkpoints(journal, "end");
  REQUIRE(!ends.empty());
  CHECK(ends[0].at("ns") >= 1'000'000'000);
  CHECK(journal.of_type("site").back().at("blocks") >= 20);  // and the one that takes the place of another
}

TEST_CASE("segments: a forked child goes on in a journal of its own, whatever segment its parent was in") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "1M");
  const auto outcome = stage.run(
      {{program("fork_storm"), full() ? "1000" : "40"}, stage.traced_environment(), {}, std::chrono::seconds(600)});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.find("\n0 children ended otherwise") != std::string::npos);
  std::size_t parents = 0;
  for (const auto& journal : read_journals(stage.journals())) {
    std::set<int> processes;
    for (const auto& line : journal.of_type("process")) processes.insert(line.at("pid").get<int>());
    CHECK(processes.size() == 1);
    if (journal.pid() != outcome.pid) continue;
    ++parents;
    const auto end = journal.of_type("end").at(0);
    CHECK(end.at("lost").at("lines") == 0);
    std::map<std::string, std::uint64_t> live;
    for (const auto& block : journal.live_at_end()) live[block.at("k")] += 1;
    CHECK(live["device"] == 8);
  }
  CHECK(parents == 1);
}
