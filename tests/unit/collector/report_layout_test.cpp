// What reports show first, of many journals and of one: order, next commands, widths, headlines.
#include "report_texts.hpp"

using namespace gpumem;

TEST_CASE("a folder shows failing processes first, then the newest, and clean ones in one line") {
  const ScratchFolder folder;
  const auto process = [](int pid, const char* wall_s) {
    return R"({"t":"process","ns":0,"tid":7,"schema":1,"wall_ns":)" + std::string(wall_s) + R"(000000000,"pid":)" +
           std::to_string(pid) + R"(,"ppid":1,"host":"elsewhere","start":5,"n":0,"argv":["app)" + std::to_string(pid) +
           "\"]}\n";
  };
  folder.write("gpumem-elsewhere-1-5-0.0.jsonl", process(1, "1796000000") + end_line(nothing_lost));
  folder.write("gpumem-elsewhere-2-5-0.0.jsonl",
               process(2, "1796000001") + failure_line(R"("ns":1,"tried":"init","code":100,"s":0,"start":true)") +
                   end_line(nothing_lost));
  folder.write("gpumem-elsewhere-3-5-0.0.jsonl",
               process(3, "1796000002") + alloc_line(1, 1024) + end_line(nothing_lost));
  const auto text = gpumem_in(folder, "report .");
  CHECK_THAT(text, ContainsSubstring("[1]             1       0 bytes  2026-11-30 00:53:21 +0000  app2 (pid 2)"));
  CHECK_THAT(text, ContainsSubstring("[2]             0       1.0 KiB  2026-11-30 00:53:22 +0000  app3 (pid 3)"));
  CHECK_THAT(text, ContainsSubstring("nothing failed, nothing live: ./gpumem-elsewhere-1-5-0.0.jsonl"));
  CHECK_THAT(text, ContainsSubstring("First CUDA call  2026-11-30 00:53:22 +0000"));
  CHECK(text.find("\n[3]") == std::string::npos);
}

TEST_CASE("the next command is worth its while, and is written as this one was") {
  const auto start_failed = process_line + failure_line(R"("ns":1,"tried":"init","code":100,"s":0,"start":true)");
  CHECK(report_of(start_failed, "failures").find("Next:") == std::string::npos);
  CHECK(report_of(process_line + alloc_line(1, 1)).find("Next:") == std::string::npos);
  CHECK_THAT(report_of(process_line + alloc_line(1, 1), "failures"), ContainsSubstring("Next: gpumem peak "));
  const ScratchFolder folder;
  folder.write(journal_name, process_line + alloc_line(1, 1));
  const auto seen = run_program("cd \"$(dirname '" GPUMEM "')\"/.. && stand_in/gpumem peak " + folder.path().string());
  CHECK_THAT(seen.out, ContainsSubstring("Next: stand_in/gpumem leaks "));
}

TEST_CASE("arguments are shown readably and cut, and the width is COLUMNS where there is no terminal") {
  const ScratchFolder folder;
  std::string process = process_line;
  process.replace(process.find("[\"a\"]"), 5, "[\"a\",\"x\\ny\",\"" + std::string(300, 'z') + "\"]");
  folder.write(journal_name, process + alloc_line(1, 1) + end_line(nothing_lost));
  const auto wide = gpumem_in(folder, std::string("report ") + journal_name);
  CHECK_THAT(wide, ContainsSubstring("a 'x\\ny' " + std::string(39, 'z') + "…"));
  const auto seen = run_program("COLUMNS=60 " GPUMEM " report " + folder.path().string());
  std::istringstream lines(seen.out);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 64);  // bytes; a character outside ASCII has several
  }
}

TEST_CASE("blocks that ended with their context are in the headline") {
  CHECK_THAT(report_of(process_line + alloc_line(1, 1024) +
                       event_line(R"("ns":20,"op":"context_end","api":"cuCtxDestroy_v2","c":1,"s":0)") +
                       end_line(nothing_lost)),
             ContainsSubstring("1 block, 1.0 KiB of device memory, ended with their context, not by a free"));
}

TEST_CASE("files without names are in the headline that they spoil") {
  CHECK_THAT(report_of(process_line + program_module + stack_line(1, R"("1:0x10")") +
                       event_line(R"("ns":10,"op":"alloc","api":"a","i":1,"k":"device","p":"0xa","n":1,"d":0,"s":1)")),
             ContainsSubstring("No names from    /nowhere/app: the file is missing or cannot be read"));
}
