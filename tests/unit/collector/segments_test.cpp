// Journals of several segments, some of which have gone.
#include "analyze/analyze.hpp"

#include "catch.hpp"
#include "journal_texts.hpp"
#include "model/error.hpp"

using namespace gpumem;

namespace {

std::string segment_name(int number) { return "gpumem-elsewhere-7-5-0." + std::to_string(number) + ".jsonl"; }

std::string process_again(int segment, int ns) {
  return R"({"t":"process","ns":)" + std::to_string(ns) +
         R"(,"tid":7,"schema":1,"wall_ns":1,"pid":7,"host":"elsewhere","start":5,"n":0,"exe":"a","segment":)" +
         std::to_string(segment) + "}\n";
}

std::string event(int ns, const std::string& keys) {
  return R"({"t":"event","ns":)" + std::to_string(ns) + R"(,"tid":7,"k":"device","d":0,"c":1,)" + keys + "}\n";
}
std::string alloc_at(int ns, int block, int bytes, int live, int stack = 1) {
  return event(ns, R"("op":"alloc","api":"cuMemAlloc_v2","i":)" + std::to_string(block) + R"(,"p":"0x)" +
                       std::to_string(1000 + block) + R"(","n":)" + std::to_string(bytes) + R"(,"s":)" +
                       std::to_string(stack) + R"(,"u":)" + std::to_string(live));
}
std::string free_at(int ns, int block) {
  return event(ns, R"("op":"free","api":"cuMemFree_v2","i":)" + std::to_string(block));
}

std::string begin_line(int ns, int last_block, int peak, const std::string& snapshot = "") {
  return R"({"t":"checkpoint","ns":)" + std::to_string(ns) +
         R"(,"tid":7,"part":"begin","n":1,"events":100,"failures":4,"lost":{"lines":0,"blocks":0,"stacks":0},"last_block":)" +
         std::to_string(last_block) +
         R"(,"contexts":[{"d":0,"c":1,"h":"0x5","primary":true}],"totals":[{"d":0,"k":"device","live":5,"peak":)" +
         std::to_string(peak) + R"(}],"summits":[],"snapshots":[)" + snapshot + "],\"dropped\":{\"segments\":1}}\n";
}
std::string part_line(int ns, const std::string& part, const std::string& keys = "") {
  return R"({"t":"checkpoint","ns":)" + std::to_string(ns) + R"(,"tid":7,"part":")" + part + R"(","n":1)" + keys +
         "}\n";
}
std::string site_line(int ns, int stack, int live, int at_peak) {
  return R"({"t":"site","ns":)" + std::to_string(ns) + R"(,"tid":7,"s":)" + std::to_string(stack) +
         R"(,"k":"device","d":0,"live":)" + std::to_string(live) +
         R"(,"blocks":1,"allocated":900,"allocs":9,"at_peak":)" + std::to_string(at_peak) +
         R"(,"at_peak_blocks":2,"first":10,"last":)" + std::to_string(ns) + "}\n";
}
std::string live_line(int ns, const std::string& blocks) {
  return R"({"t":"live","ns":)" + std::to_string(ns) + R"(,"tid":7,"k":"device","d":0,"c":1,"blocks":[)" + blocks +
         "]}\n";
}

const std::string first_segment = process_line + alloc_at(10, 1, 100, 100) + alloc_at(20, 2, 50, 150, 2);

// Goes on after a gap: blocks 1 and 9 live when it began; block 12 is younger than its checkpoint.
std::string after_gap(int number) {
  return process_again(number, 1000) + free_at(1005, 9) +
         begin_line(1010, 10, 5000, R"({"d":0,"ns":600,"bytes":4990})") + site_line(1011, 1, 100, 4000) +
         alloc_at(1012, 12, 7, 107) +
         live_line(
             1020,
             R"([1,"0x1001",100,1,10,7],[9,"0x1009",60,2,700,8,1,3],[12,"0x1012",7,1,1012,7],[13,"0x1013",9,1,1013,7])") +
         part_line(1030, "end", R"(,"sites":1,"blocks":4)") + alloc_at(1040, 14, 11, 118);
}

ProcessAnalysis analysis_of(const ScratchFolder& folder, Strictness how = Strictness::strict) {
  return analyze(find_journals(folder.path()).front(), how);
}

Usage live_of(const ProcessAnalysis& process) {
  const auto found = process.totals.find({0, "device"});
  return found == process.totals.end() ? Usage{} : found->second.live;
}

}  // namespace

TEST_CASE("segments that follow each other are one journal, and their checkpoints say nothing new") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(1), process_again(1, 1000) + begin_line(1010, 2, 5000) + site_line(1011, 1, 100, 4000) +
                                    live_line(1020, R"([1,"0x1001",100,1,10,7])") +
                                    part_line(1030, "end", R"(,"sites":1,"blocks":1)") + free_at(1040, 1));
  const auto process = analysis_of(folder);
  CHECK(process.gaps.empty());
  CHECK(process.segments == 2);
  CHECK(live_of(process) == Usage{1, 50});
  CHECK(process.peaks.front().moment.bytes == 150);
  CHECK(process.process.argv.size() == 1);
}

TEST_CASE("after a gap what is live is what the checkpoint lists and what its segment changed") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(3), after_gap(3));
  const auto process = analysis_of(folder);
  // 1 stays, 2 has ended unseen, 9 was freed in the segment, 12 counts once, 13 was never handed out, 14 came later.
  CHECK(live_of(process) == Usage{3, 118});
  REQUIRE(process.gaps.size() == 1);
  CHECK(process.gaps[0].first_segment == 1);
  CHECK(process.gaps[0].segments == 2);
  CHECK(process.gaps[0].since_ns == 20);
  CHECK(process.gaps[0].until_ns == 1000);
  CHECK(process.gaps[0].is_bridged);
  CHECK(process.gaps[0].events == 98);
  CHECK(process.gaps[0].failures == 4);
  CHECK(process.segments == 4);
  CHECK_FALSE(process.live_as_of);
}

TEST_CASE("after a gap a block whose free stands before its own line is not live, and none counts twice") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  const std::string tail = after_gap(3);
  const auto second_line = tail.find('\n') + 1;
  folder.write(segment_name(3),
               tail.substr(0, second_line) + free_at(1006, 8) + alloc_at(1008, 8, 20, 120) + tail.substr(second_line));
  const auto process = analysis_of(folder);
  CHECK(live_of(process) == Usage{3, 118});
  // 9 by the checkpoint's counter, 12 and 14 after it; at the other site one before the gap.
  CHECK(process.allocated.at({0, "device"}).blocks == 12);
}

TEST_CASE("a peak among missing events is the counter's, and its split the snapshot's") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(3), after_gap(3));
  const auto peak = analysis_of(folder).peaks.front();
  CHECK(peak.bytes() == 5000);
  CHECK_FALSE(peak.moment.is_placed);
  REQUIRE(peak.snapshot);
  CHECK(peak.snapshot->ns == 600);
  REQUIRE(peak.by_stack.size() == 1);
  CHECK(peak.by_stack[0].amount == Usage{2, 4000});
}

TEST_CASE("a peak at an event that is there is split exactly, also where the checkpoint told of it before") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(3), after_gap(3) + alloc_at(1050, 15, 4882, 5000));
  const auto peak = analysis_of(folder).peaks.front();
  CHECK(peak.moment.is_placed);
  CHECK(peak.moment.ns == 1050);
  CHECK(peak.by_stack.size() == 1);
  CHECK(peak.by_stack[0].amount.bytes == 5000);
}

TEST_CASE("of a segment whose events have gone only what its sites held is used, and nothing after its last line") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(1), process_again(1, 500) + begin_line(510, 10, 200) + alloc_at(511, 90, 3, 3) +
                                    site_line(512, 1, 70, 100) + part_line(513, "cut") + alloc_at(514, 91, 4, 4) +
                                    "no line of a journal\n");
  folder.write(segment_name(3), after_gap(3));
  const auto process = analysis_of(folder);
  CHECK(live_of(process) == Usage{3, 118});
  CHECK(process.gaps.size() == 1);
  CHECK(process.gaps[0].segments == 2);
  CHECK(process.gaps[0].since_ns == 20);
}

TEST_CASE("blocks that no checkpoint lists leave each site's sum, and the time that it is of") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(2), process_again(2, 1000) + begin_line(1010, 10, 5000) + site_line(1011, 1, 300, 0) +
                                    part_line(1030, "end", R"(,"sites":1)") + free_at(1040, 1));
  auto process = analysis_of(folder);
  CHECK(live_of(process) == Usage{1, 300});
  CHECK(process.live_as_of == 1011);
  folder.write(segment_name(3), after_gap(3));
  process = analysis_of(folder);
  CHECK(live_of(process) == Usage{3, 118});
  CHECK_FALSE(process.live_as_of);
}

TEST_CASE("GPUMEM_EVENTS=0: what is live is what the newest checkpoint says") {
  const ScratchFolder folder;
  auto process_text = process_line;
  process_text.replace(process_text.find("\"argv\""), 0, "\"events\":false,");
  folder.write(segment_name(0), process_text + begin_line(10, 1, 200) + site_line(11, 1, 100, 0) +
                                    part_line(12, "end", R"(,"sites":1)") + begin_line(20, 9, 400) +
                                    site_line(21, 1, 300, 0) + part_line(22, "end", R"(,"sites":1)"));
  const auto process = analysis_of(folder);
  CHECK(live_of(process) == Usage{1, 300});
  CHECK(process.live_as_of == 21);
  CHECK(process.peaks.front().bytes() == 400);
}

TEST_CASE("a journal whose newest segment is cut at any byte is read") {
  const ScratchFolder folder;
  folder.write(segment_name(0), first_segment);
  folder.write(segment_name(1),
               process_again(1, 500) + begin_line(510, 10, 200) + part_line(520, "end", R"(,"sites":0,"blocks":0)"));
  const std::string whole = after_gap(2);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    CAPTURE(size);
    folder.write(segment_name(2), whole.substr(0, size));
    CHECK(analysis_of(folder, Strictness::lenient).gaps.empty());
    folder.write(segment_name(2), whole.substr(0, size) + std::string(100, '\0'));
    CHECK(analysis_of(folder).gaps.empty());
  }
}

TEST_CASE("watching a journal reads each line once, waits for half-written ones, and follows into new segments") {
  const ScratchFolder folder;
  const std::string nuls(200, '\0');
  Watch watch;
  const auto look = [&]() -> const ProcessAnalysis& { return watch.look(find_journals(folder.path()).front()); };
  folder.write(segment_name(0), process_line + alloc_at(10, 1, 100, 100) + nuls);
  CHECK(live_of(look()) == Usage{1, 100});
  CHECK(live_of(look()) == Usage{1, 100});
  const std::string second = alloc_at(20, 2, 50, 150), third = alloc_at(30, 3, 5, 155);
  folder.write(segment_name(0),
               process_line + alloc_at(10, 1, 100, 100) + std::string(second.size(), '\0') + third + nuls);
  CHECK(live_of(look()) == Usage{1, 100});
  folder.write(segment_name(0), process_line + alloc_at(10, 1, 100, 100) + second + third + nuls);
  CHECK(live_of(look()) == Usage{3, 155});
  CHECK(look().events == 3);
  folder.write(segment_name(1), process_again(1, 500) + free_at(510, 1) + nuls);
  CHECK(live_of(look()) == Usage{2, 55});
  std::filesystem::remove(folder / segment_name(1));
  folder.write(segment_name(3), after_gap(3) + nuls);
  CHECK(live_of(look()) == Usage{3, 118});
  REQUIRE(look().gaps.size() == 1);
  CHECK(look().gaps[0].first_segment == 1);  // of which only the end is missing
  CHECK(look().gaps[0].segments == 2);
}
