#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "journal/journal.hpp"
#include "scratch_folder.hpp"

using namespace gpumem;
using gpumem::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t smallest = Journal::least_for_segments;
const std::string cut_line = "cut\n";

std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::string bytes = text.str();
  bytes.erase(std::remove(bytes.begin(), bytes.end(), '\0'), bytes.end());
  return bytes;
}

std::uintmax_t bytes_in(const ScratchFolder& folder) {
  std::uintmax_t sum = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) sum += entry.file_size();
  return sum;
}

struct SegmentedJournal {
  ScratchFolder folder;
  std::unique_ptr<Journal> journal = std::make_unique<Journal>();
  std::uint64_t now_ns = 1'000'000;

  explicit SegmentedJournal(std::size_t largest = smallest,
                            SegmentFile::Writing writing = SegmentFile::Writing::mapped) {
    REQUIRE(journal->create((folder / "j.0.jsonl").c_str(), largest, writing));
  }

  fs::path file(std::uint32_t segment) const { return folder / ("j." + std::to_string(segment) + ".jsonl"); }

  bool wants_new_segment() const { return journal->wants_new_segment(now_ns); }

  // As the session does it, with a beginning of one line and a checkpoint that is complete at once.
  bool begin_segment(std::size_t for_checkpoint = 0) {
    if (!journal->begin_segment("first of " + std::to_string(journal->segment() + 1) + "\n", for_checkpoint, cut_line,
                                now_ns))
      return false;
    journal->append("site\n");
    journal->end_of_beginning();
    journal->free_earlier_segments();
    return true;
  }

  bool append(const std::string& line) {
    if (wants_new_segment()) begin_segment();
    return journal->append(line);
  }
};

std::string numbered(int i) { return std::to_string(i) + std::string(90, '.') + "\n"; }

}  // namespace

TEST_CASE("a journal goes on in segments of an eighth, each with its first lines, and no line is lost") {
  SegmentedJournal segmented;
  constexpr int lines = 5000;
  for (int i = 0; i < lines; ++i) REQUIRE(segmented.append(numbered(i)));
  const std::uint32_t newest = segmented.journal->segment();
  CHECK(newest == lines * numbered(1000).size() / (smallest / 8));
  segmented.journal->trim();
  std::string all;
  for (std::uint32_t i = 0; i <= newest; ++i) {
    std::string text = content(segmented.file(i));
    const std::string opening = "first of " + std::to_string(i) + "\nsite\n";
    if (i != 0) {
      REQUIRE(text.rfind(opening, 0) == 0);
      text.erase(0, opening.size());
    }
    CHECK(text.size() <= smallest / 8 + 4096);
    all += text;
  }
  std::string expected;
  for (int i = 0; i < lines; ++i) expected += numbered(i);
  CHECK(all == expected);
  CHECK(segmented.journal->dropped_segments() == 0);
}

TEST_CASE("the segments together stay within the bound; of those in between the beginning stays") {
  for (const auto writing : {SegmentFile::Writing::mapped, SegmentFile::Writing::by_calls}) {
    SegmentedJournal segmented(smallest, writing);
    for (int i = 0; i < 60000; ++i) {
      REQUIRE(segmented.append(numbered(i)));
      if (i % 500 == 0) REQUIRE(bytes_in(segmented.folder) <= smallest);
    }
    const std::uint32_t newest = segmented.journal->segment();
    REQUIRE(newest > 40);
    segmented.journal->trim();
    CHECK(content(segmented.file(0)).size() > smallest / 9);
    CHECK(content(segmented.file(newest - 1)).size() > smallest / 9);
    CHECK(content(segmented.file(1)) == "first of 1\nsite\n" + cut_line);
    CHECK(content(segmented.file(newest)).find(numbered(59999)) != std::string::npos);
    CHECK(segmented.journal->dropped_segments() > 30);
  }
}

TEST_CASE("below a mebibyte there is one file") {
  SegmentedJournal segmented(smallest - 4096);
  int taken = 0;
  while (segmented.append(numbered(taken))) ++taken;
  CHECK(segmented.journal->segment() == 0);
  CHECK(taken > 9000);
}

TEST_CASE("while nobody says that earlier segments are not needed they stay, and then lines are refused") {
  SegmentedJournal segmented;
  std::uint32_t newest = 0;
  int taken = 0;
  for (; taken < 60000; ++taken) {
    if (segmented.wants_new_segment()) segmented.journal->begin_segment("first\n", 0, cut_line, segmented.now_ns);
    if (!segmented.journal->append(numbered(taken))) break;
  }
  newest = segmented.journal->segment();
  CHECK(newest >= 5);
  CHECK(taken < 11000);
  int found = 0;
  for (std::uint32_t i = 0; i <= newest; ++i) {
    const std::string text = content(segmented.file(i));
    found += static_cast<int>(std::count(text.begin(), text.end(), '\n')) - (i != 0);
  }
  CHECK(found == taken);
  CHECK(bytes_in(segmented.folder) <= smallest);
}

TEST_CASE("events leave the room for a checkpoint alone until it is complete") {
  SegmentedJournal segmented;
  while (!segmented.wants_new_segment()) segmented.append(numbered(0));
  constexpr std::size_t for_checkpoint = 60'000;
  REQUIRE(segmented.journal->begin_segment("first\n", for_checkpoint, cut_line, 0));
  std::size_t events = 0, checkpoint = 0;
  while (segmented.journal->append(numbered(1))) events += numbered(1).size();
  CHECK(events > smallest / 8);
  while (segmented.journal->append("site\n", Journal::Importance::notable)) checkpoint += 5;
  CHECK(checkpoint > for_checkpoint);
  segmented.journal->free_earlier_segments();
  CHECK_FALSE(segmented.journal->append(numbered(1)));

  REQUIRE(segmented.journal->begin_segment("first\n", for_checkpoint, cut_line, 0));
  segmented.journal->free_earlier_segments();
  std::size_t more_events = 0;
  while (segmented.journal->append(numbered(1))) more_events += numbered(1).size();
  CHECK(more_events > events + for_checkpoint / 2);
}

TEST_CASE("a line for a segment that is not the newest any more is refused, and not written elsewhere") {
  SegmentedJournal segmented;
  CHECK(segmented.journal->append("here\n", Journal::Importance::ordinary, 0));
  CHECK_FALSE(segmented.journal->append("there\n", Journal::Importance::ordinary, 1));
  REQUIRE(segmented.begin_segment());
  CHECK_FALSE(segmented.journal->append("late\n", Journal::Importance::ordinary, 0));
  CHECK(segmented.journal->append("now\n", Journal::Importance::ordinary, 1));
  CHECK(content(segmented.file(0)) == "here\n");
  CHECK(content(segmented.file(1)) == "first of 1\nsite\nnow\n");
}

TEST_CASE("threads' lines are whole, and each in one segment, while segments begin") {
  SegmentedJournal segmented(std::size_t{8} << 20);
  constexpr int threads = 4, lines = 20000;
  std::atomic<int> refused{0};
  std::mutex beginning;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (int i = 0; i < lines; ++i) {
        if (segmented.wants_new_segment()) {
          const std::lock_guard guard(beginning);
          if (segmented.wants_new_segment()) segmented.begin_segment();
        }
        const std::string line = std::string(1, static_cast<char>('a' + t)) + std::to_string(i);
        if (!segmented.journal->append(line + std::string(60 - line.size(), '.') + "\n")) ++refused;
      }
    });
  for (std::thread& worker : workers) worker.join();
  CHECK(refused == 0);
  REQUIRE(segmented.journal->segment() >= 3);
  std::map<char, int> next;
  for (std::uint32_t i = 0; i <= segmented.journal->segment(); ++i) {
    std::istringstream text(content(segmented.file(i)));
    for (std::string line; std::getline(text, line);) {
      if (line.rfind("first of", 0) == 0 || line == "site") continue;
      REQUIRE(line.size() == 60);
      REQUIRE(std::stoi(line.substr(1)) == next[line[0]]++);
    }
  }
  for (int t = 0; t < threads; ++t) CHECK(next[static_cast<char>('a' + t)] == lines);
}

TEST_CASE("a file that somebody has cut costs lines, not the process, and the journal goes on in its next segment") {
  SegmentedJournal segmented;
  for (int i = 0; i < 500; ++i) REQUIRE(segmented.journal->append(numbered(i)));
  fs::resize_file(segmented.file(0), 100);
  CHECK_FALSE(
      segmented.journal->append("lost\n", Journal::Importance::ordinary, Journal::any_segment, segmented.now_ns));
  CHECK_FALSE(segmented.journal->append("lost\n"));
  CHECK(segmented.wants_new_segment());
  REQUIRE(segmented.begin_segment());
  CHECK(segmented.journal->append("kept\n", Journal::Importance::ordinary, Journal::any_segment,
                                  segmented.now_ns + 10'000));
  CHECK(content(segmented.file(1)).find("kept\n") != std::string::npos);
  CHECK(fs::file_size(segmented.file(0)) == 100);
  CHECK(segmented.journal->dropped_segments() == 1);
}

TEST_CASE("a file that somebody has removed is not made again; its next segment is") {
  SegmentedJournal segmented;
  fs::remove(segmented.file(0));
  for (int i = 0; segmented.journal->segment() == 0 && i < 5000; ++i) segmented.append(numbered(i));
  CHECK(segmented.journal->segment() == 1);
  CHECK_FALSE(fs::exists(segmented.file(0)));
  CHECK(segmented.journal->append("kept\n"));
  CHECK(content(segmented.file(1)).find("kept\n") != std::string::npos);
}

TEST_CASE("where the file of the next segment exists, or cannot be made, the newest one takes what it can") {
  SegmentedJournal segmented;
  std::ofstream(segmented.file(1)) << "somebody else's";
  int taken = 0;
  while (segmented.append(numbered(taken))) ++taken;
  CHECK(segmented.journal->segment() == 0);
  CHECK(content(segmented.file(1)) == "somebody else's");
  CHECK_FALSE(segmented.wants_new_segment());
  segmented.now_ns += 10'000'000'000;
  CHECK(segmented.wants_new_segment());
  fs::remove(segmented.file(1));
  CHECK(segmented.append("again\n"));
  CHECK(segmented.journal->segment() == 1);
  CHECK(taken * numbered(1000).size() > smallest / 8);
}

TEST_CASE("a journal that is written by calls refuses nothing that a mapped one takes, and never a file that was cut") {
  SegmentedJournal segmented(smallest, SegmentFile::Writing::by_calls);
  for (int i = 0; i < 500; ++i) REQUIRE(segmented.journal->append(numbered(i)));
  fs::resize_file(segmented.file(0), 0);
  CHECK(segmented.journal->append("after\n"));
  CHECK(content(segmented.file(0)) == "after\n");
  fs::remove(segmented.file(0));
  CHECK_FALSE(segmented.journal->append("gone\n"));
  CHECK(segmented.wants_new_segment());
}
