// What the reports say of memory that is none of the process's own, of objects, and of what the driver keeps.
#include "catch.hpp"
#include "journal_texts.hpp"
#include "program.hpp"

using namespace gpumem;

namespace {

std::string line(const char* type, const std::string& keys) {
  return R"({"t":")" + std::string(type) + R"(","tid":7,)" + keys + "}\n";
}

std::string alloc_of(const char* kind, int block, const std::string& keys) {
  return line("event", R"("ns":20,"op":"alloc","api":"cuSomething","d":0,"k":")" + std::string(kind) + R"(","i":)" +
                           std::to_string(block) + R"(,"p":"0x)" + std::to_string(block) + R"(",)" + keys);
}

std::string report_of(const std::string& journal, const std::string& command = "report") {
  const ScratchFolder folder;
  folder.write("a.jsonl", journal);
  const auto seen =
      run_program("cd " + folder.path().string() +
                  " && TZ=UTC COLUMNS=1000 PATH=\"$(dirname '" GPUMEM "'):$PATH\" gpumem " + command + " a.jsonl");
  CAPTURE(seen.err);
  CHECK(seen.status == 0);
  return seen.out;
}

const std::string end = R"({"t":"end","ns":900,"tid":7,"events":1,"failures":0,"routes":{"linked":1}})"
                        "\n";

}  // namespace

TEST_CASE("objects have no bytes anywhere in a report, and no size in their line") {
  const auto text = report_of(process_line + alloc_of("stream", 1, R"("s":0)") + alloc_of("stream", 2, R"("s":0)") +
                              alloc_of("pool", 3, R"("n":0,"s":0)") + end);
  CHECK_THAT(text, ContainsSubstring("Live at the end  3 objects"));
  CHECK_THAT(text, ContainsSubstring("2 streams on GPU 0; 2 made here in all"));
  CHECK_THAT(text, ContainsSubstring("1 memory pool on GPU 0; made at 20 ns"));
  CHECK(text.find("byte") == std::string::npos);
  CHECK(text.find("KiB") == std::string::npos);
}

TEST_CASE("memory of others is told to be theirs, and counts for no device") {
  const auto text = report_of(process_line + alloc_of("ipc", 1, R"("n":4096,"s":0)") +
                              line("sample", R"("ns":30,"d":0,"free":1024,"total":16384,"why":"time")") + end);
  CHECK_THAT(text, ContainsSubstring("Opened and not closed: memory of another process or another API"));
  CHECK_THAT(text, ContainsSubstring("no memory was allocated"));
  CHECK_THAT(text, ContainsSubstring("GPU 0: 15.0 KiB at 30 ns."));
  CHECK_THAT(text, ContainsSubstring("explain 0 bytes of it, 15.0 KiB are not explained by any call"));
}

TEST_CASE("a kind from a newer shim is shown by its name") {
  const auto text = report_of(process_line + alloc_of("vmm", 1, R"("n":4096,"s":0)") + end, "leaks");
  CHECK_THAT(text, ContainsSubstring("Of kinds that this gpumem does not know"));
  CHECK_THAT(text, ContainsSubstring("1 block, 4.0 KiB (4,096 bytes) of \"vmm\""));
}

TEST_CASE("what a pool holds and what of it is used are two figures") {
  const auto text = report_of(process_line +
                                  line("sample", R"("ns":30,"d":0,"free":1024,"total":16384,"why":"trim",)"
                                                 R"("pool_reserved":4096,"pool_used":1024)") +
                                  end,
                              "leaks");
  CHECK_THAT(text, ContainsSubstring("Everything that was allocated was freed."));
  CHECK_THAT(text,
             ContainsSubstring("The stream-ordered pool on GPU 0: 4.0 KiB reserved, 1.0 KiB used, 3.0 KiB parked"));
}

TEST_CASE("a failed request names what the pool could give back, and does not call it somebody else's") {
  const auto text = report_of(
      process_line +
          line("failure", R"("ns":29,"tried":"alloc","api":"cudaMalloc","k":"device","n":4096,"d":0,"code":2)") +
          line("sample",
               R"("ns":30,"d":0,"free":1024,"total":16384,"why":"failure","pool_reserved":8192,"pool_used":1024)") +
          end,
      "failures");
  CHECK_THAT(text, ContainsSubstring("7.0 KiB are parked in the device's stream-ordered pool"));
  CHECK_THAT(text, ContainsSubstring("7.0 KiB are held by something else"));
}

TEST_CASE("a failed request for an object is not measured against the device's memory") {
  const auto text = report_of(
      process_line +
          line("failure", R"("ns":29,"tried":"alloc","api":"cudaStreamCreate","k":"stream","d":0,"u":5,"code":2)") +
          line("sample", R"("ns":30,"d":0,"free":0,"total":16384,"why":"failure")") + end,
      "failures");
  CHECK_THAT(text, ContainsSubstring("only the driver knows"));
  CHECK_THAT(text, ContainsSubstring("this process held 5 streams of this kind"));
  CHECK_THAT(text, ContainsSubstring("Request    1 stream"));
}

TEST_CASE("a launch that finds no memory is told what the driver had") {
  const auto text =
      report_of(process_line + line("failure", R"("ns":29,"tried":"launch","api":"cuLaunchKernel","d":0,"code":2)") +
                    line("sample", R"("ns":30,"d":0,"free":512,"total":16384,"why":"failure")") + end,
                "failures");
  CHECK_THAT(text, ContainsSubstring("the driver reported 512 bytes free of 16.0 KiB just after"));
}

TEST_CASE("a failed free by the wrong function says which is the right one, and whose context it is") {
  const std::string start = process_line + alloc_of("array", 1, R"("n":4096,"c":2,"s":0)");
  const auto text = report_of(
      start + line("failure", R"("ns":29,"tried":"free","api":"cudaFree","p":"0x1","c":1,"code":1,"first":true)") +
      end);
  CHECK_THAT(text, ContainsSubstring("What it was given (arrays) must be given back by cudaFreeArray"));
  CHECK_THAT(text, ContainsSubstring("it belongs to context 2, and context 1 was current"));
}

TEST_CASE("a free that no block answers to says what the pointer was") {
  const std::string free = R"("op":"free","api":"cudaFree",)";
  const auto text =
      report_of(process_line + alloc_line(1, 1024) + line("event", R"("ns":20,"i":1,)" + free + R"("s":0)") +
                    line("event", R"("ns":30,"p":"0x1001","unknown":true,)" + free + R"("s":0)") +
                    line("event", R"("ns":40,"p":"0xbad","unknown":true,)" + free + R"("s":0)") + end,
                "failures");
  CHECK_THAT(text, ContainsSubstring("0x1001 was a block of linear device memory that was freed at 20 ns by cudaFree"));
  CHECK_THAT(text, ContainsSubstring("0xbad was never handed out as far as the journal knows"));
}

TEST_CASE("look-ups that were not recognised are in the notes, and none where all were") {
  std::string suspicious = end;
  suspicious.replace(suspicious.find(R"("linked":1)"), 10, R"("linked":1,"unrecognised":2)");
  CHECK_THAT(report_of(process_line + suspicious), ContainsSubstring("2 look-ups of CUDA functions"));
  CHECK(report_of(process_line + end).find("look-up") == std::string::npos);
  CHECK_THAT(report_of(process_line + suspicious, "report --format json"), ContainsSubstring(R"("unrecognised": 2)"));
}
