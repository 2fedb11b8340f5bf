// What the reports say where it is easy to say too much: each case is one journal and the sentences that it must give.
#include <fstream>

#include "report_texts.hpp"

using namespace gpumem;

TEST_CASE("an end line alone does not tell the exit status; the sidecar does") {
  const ScratchFolder folder;
  folder.write(journal_name, process_line + end_line(nothing_lost));
  CHECK_THAT(gpumem_in(folder, std::string("report ") + journal_name),
             ContainsSubstring("reached its end (exit status not known), 900.0 ms after its first CUDA call"));
  folder.write(
      "gpumem-elsewhere-7-5-0.status.json",
      R"({"schema":1,"pid":7,"command":["a"],"started_ns":1,"ended_ns":950000001,"exit_status":3,"signal":null})");
  CHECK_THAT(gpumem_in(folder, std::string("report ") + journal_name), ContainsSubstring("ended with status 3"));
}

TEST_CASE("where lines were lost the end line's peak counts, and live memory is what was recorded") {
  const auto text =
      report_of(process_line + alloc_line(1, 1024) +
                end_line(R"("lost":{"lines":17,"blocks":0,"stacks":0},)"
                         R"("peaks":[{"d":0,"k":"device","bytes":1073741824},{"d":1,"k":"device","bytes":2048}])"));
  CHECK_THAT(text, ContainsSubstring("17 lines did not fit into the journal"));
  CHECK_THAT(text,
             ContainsSubstring("1.0 GiB of linear device memory, as the process counted; the lines show 1.0 KiB"));
  CHECK_THAT(text, ContainsSubstring("Peak on GPU 1    2.0 KiB of linear device memory, as the process counted"));
  CHECK_THAT(text, ContainsSubstring("1 block, 1.0 KiB of linear device memory on GPU 0, as far as recorded"));
  CHECK_THAT(text, ContainsSubstring("blocks shown as live may have been freed"));
}

TEST_CASE("blocks that the shim could not keep track of are counted and said to be in no total") {
  const auto text = report_of(
      process_line + alloc_line(1, 1024) +
      event_line(R"("ns":20,"op":"alloc","api":"cudaMalloc","k":"device","p":"0xb","n":4096,"d":0,"untracked":true)") +
      end_line(R"("lost":{"lines":0,"blocks":1,"stacks":0})"));
  CHECK_THAT(text, ContainsSubstring("1 block (4.0 KiB) did not fit into the shim's tables"));
  CHECK_THAT(text, ContainsSubstring("at least 1 block, 1.0 KiB of linear device memory on GPU 0"));
}

TEST_CASE("an alloc at address 0 is no block") {
  CHECK_THAT(report_of(process_line +
                       event_line(R"("ns":20,"op":"alloc","api":"cudaMalloc","k":"device","p":"0x0","n":0,"d":0)") +
                       end_line(nothing_lost)),
             ContainsSubstring("no memory was allocated"));
}

TEST_CASE("a second free is told when and where the first was, a stray one that nothing is known") {
  const std::string freed = event_line(R"("ns":5000000,"op":"free","api":"cudaFree","i":1,"k":"device","s":1)");
  const auto failed_free = [](const char* address) {
    return R"({"t":"failure","ns":9000000,"tid":7,"tried":"free","api":"cudaFree","code":1,"s":0,"p":")" +
           std::string(address) + "\"}\n";
  };
  const std::string start = process_line + program_module + stack_line(1, R"("1:0x10")") + alloc_line(1, 1024);
  const auto twice = report_of(start + freed + failed_free("0x1001"), "failures");
  CHECK_THAT(twice, ContainsSubstring("Code 1 means:"));
  CHECK_THAT(twice, ContainsSubstring(
                        "0x1001 was a block of linear device memory that was freed at 5.0 ms by cudaFree in thread "
                        "7, called by app+0x10; (a call whose stack could not be taken) had allocated it"));
  CHECK(twice.find("stays live") == std::string::npos);
  CHECK_THAT(report_of(start + failed_free("0xbad"), "failures"),
             ContainsSubstring("0xbad was never handed out as far as the journal knows"));
  CHECK_THAT(report_of(start + failed_free("0x1001"), "failures"),
             ContainsSubstring("0x1001 is a live block of linear device memory on GPU 0 from "
                               "(a call whose stack could not be taken), and stays live"));
}

TEST_CASE("no failure is claimed only for the calls that are recorded") {
  CHECK_THAT(report_of(process_line + end_line(nothing_lost)),
             ContainsSubstring("none among the recorded calls (start, contexts, allocations, frees)"));
}

TEST_CASE("a cut journal says in the verdict that its end is not known") {
  const ScratchFolder folder;
  const std::string whole = process_line + alloc_line(1, 1024) + alloc_line(2, 1024);
  folder.write(journal_name, whole.substr(0, whole.size() - 20));
  const auto text = gpumem_in(folder, std::string("report --lenient ") + journal_name);
  CHECK_THAT(text, ContainsSubstring("its journal is cut off at 11 ns: what came after is not known"));
  CHECK_THAT(text, ContainsSubstring("Live at the cut"));
}

TEST_CASE("a failed allocation is shown with what was live just then, not at the peak") {
  const auto text = report_of(
      process_line + program_module + stack_line(1, R"("1:0x10")") + stack_line(2, R"("1:0x20")") +
          event_line(R"("ns":10,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0xa","n":8192,"d":0,"s":1)") +
          event_line(R"("ns":20,"op":"free","api":"cudaFree","i":1)") +
          event_line(R"("ns":30,"op":"alloc","api":"cudaMalloc","i":2,"k":"device","p":"0xb","n":1024,"d":0,"s":2)") +
          failure_line(R"("ns":40,"tried":"alloc","k":"device","n":4096,"d":0,"s":2,"code":2,"first":true)") +
          R"({"t":"sample","ns":41,"tid":7,"d":0,"free":2048,"total":16384,"why":"failure"})"
          "\n",
      "failures");
  CHECK_THAT(text, ContainsSubstring("Held then  1 block, 1.0 KiB of linear device memory from app+0x20"));
  CHECK_THAT(text, ContainsSubstring("13.0 KiB are held by something else: other processes, contexts, loaded code"));
  CHECK_THAT(text, ContainsSubstring("nvidia-smi"));
}

TEST_CASE("a recovered retry is no first failure, and what failed besides is counted") {
  const auto alloc_failure = [](const char* ns, const char* bytes) {
    return failure_line(R"("tried":"alloc","k":"device","d":0,"s":0,"code":2,"ns":)" + std::string(ns) + R"(,"n":)" +
                        bytes);
  };
  const std::string retry =
      alloc_failure("10", "1000") +
      event_line(R"("ns":20,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0xa","n":1000,"d":0,"s":0)");
  const auto recovered = report_of(process_line + retry + end_line(nothing_lost));
  CHECK_THAT(recovered, ContainsSubstring("none that lasted among the recorded calls"));
  CHECK_THAT(recovered, ContainsSubstring("1 request succeeded on a retry, after 1 failed call"));
  const auto failed = report_of(process_line + retry + alloc_failure("30", "7000") + alloc_failure("40", "7000") +
                                alloc_failure("50", "90000") + end_line(nothing_lost));
  CHECK_THAT(failed,
             ContainsSubstring("First failure    cudaMalloc failed with 2 (CUDA_ERROR_OUT_OF_MEMORY) at 30 ns"));
  CHECK_THAT(failed, ContainsSubstring("(and 1 more, see gpumem failures)"));
  CHECK_THAT(failed, ContainsSubstring("given up after 2 attempts within 10 ns"));
}

TEST_CASE("call sites with the same shown stack are one row, those with the same label are told apart") {
  // 0x10 is the same frame in both stacks; the second frame differs.
  const auto text = report_of(
      process_line + program_module + stack_line(1, R"("1:0x10","1:0x20")") + stack_line(2, R"("1:0x10","1:0x30")") +
          stack_line(3, R"("1:0x10","1:0x30")") +
          event_line(R"("ns":10,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0xa","n":1024,"d":0,"s":1)") +
          event_line(R"("ns":11,"op":"alloc","api":"cudaMalloc","i":2,"k":"device","p":"0xb","n":1024,"d":0,"s":2)") +
          event_line(R"("ns":12,"op":"alloc","api":"cudaMalloc","i":3,"k":"device","p":"0xc","n":1024,"d":0,"s":3)"),
      "peak");
  CHECK_THAT(text, ContainsSubstring("2.0 KiB   67 %       2  app+0x10 ← app+0x30"));
  CHECK_THAT(text, ContainsSubstring("1.0 KiB   33 %       1  app+0x10 ← app+0x20"));
}

TEST_CASE("frames of the interpreter are folded, also when nothing else is left") {
  const auto text = report_of(
      process_line +
          R"({"t":"module","ns":1,"tid":7,"id":1,"path":"/usr/bin/python3.11","build_id":null})"
          "\n" +
          stack_line(1, R"("1:0x10","1:0x20","1:0x30")") +
          event_line(R"("ns":10,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0xa","n":1024,"d":0,"s":1)"),
      "leaks");
  CHECK_THAT(text, ContainsSubstring("(3 frames in the Python interpreter)"));
  CHECK(text.find("python3.11+0x10") == std::string::npos);
  CHECK_THAT(text, ContainsSubstring("tells of no interpreter"));
}

TEST_CASE("a call in flight of a process that is gone had not returned when the record ends") {
  const auto text = report_of(process_line + event_line(R"("ns":10,"op":"begin","api":"cuInit")"));
  CHECK_THAT(text, ContainsSubstring("cuInit, entered at 10 ns by thread 7, had not returned when the record ends"));
  CHECK(text.find("stack could not be taken") == std::string::npos);
}

TEST_CASE("a call in flight of a running process is timed by the clock") {
  const ScratchFolder folder;
  folder.write("child.sh", R"(
start=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)
printf '{"t":"process","ns":0,"tid":1,"schema":1,"wall_ns":%s,"pid":%s,"ppid":1,"host":"%s","start":%s,"n":0,"argv":["child"]}\n{"t":"event","ns":0,"tid":1,"op":"begin","api":"cuInit"}\n' \
  $(($(date +%s) - 5))000000000 $$ $(hostname) $start >running.jsonl
gpumem report running.jsonl
)");
  const auto seen = run_program("cd " + folder.path().string() +
                                " && PATH=\"$(dirname '" GPUMEM "'):$PATH\" COLUMNS=200 sh child.sh");
  CHECK_THAT(seen.out, ContainsSubstring("is still running"));
  CHECK_THAT(seen.out, ContainsSubstring("cuInit, entered at 0 ns by thread 1, has not returned for "));
}

TEST_CASE("Python frames that are missing have their reason, at the stack and at the end") {
  const std::string stack = R"({"t":"stack","ns":1,"tid":7,"id":1,"f":["1:0x10"],"py":"finalizing"})"
                            "\n";
  const std::string journal =
      process_line +
      R"({"t":"module","ns":1,"tid":7,"id":1,"path":"/usr/bin/python3.16","build_id":null})"
      "\n" +
      R"({"t":"interpreter","ns":1,"tid":7,"version":"3.16.0","path":"/usr/bin/python3.16","free_threaded":false,)"
      R"("stacks":"declined","reason":"Python 3.16 is not known"})"
      "\n" +
      stack +
      event_line(R"("ns":10,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0xa","n":1024,"d":0,"s":1)");
  const auto text = report_of(journal, "leaks");
  CHECK_THAT(text, ContainsSubstring("(no Python frames: the interpreter was ending)"));
  CHECK_THAT(text, ContainsSubstring("No Python frames of /usr/bin/python3.16: Python 3.16 is not known."));
}

TEST_CASE("a list of one's own decides whose a frame is, and one that is none is refused") {
  ScratchFolder folder;
  const std::string journal =
      process_line +
      R"({"t":"python","ns":1,"tid":7,"id":1,"file":"/src/helpers.py","line":3,"name":"allocate"})"
      "\n"
      R"({"t":"python","ns":1,"tid":7,"id":2,"file":"/src/train.py","line":9,"name":"step"})"
      "\n" +
      stack_line(1, R"("py:1","py:2")") +
      event_line(R"("ns":10,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0xa","n":1024,"d":0,"s":1)");
  CHECK_THAT(report_of(journal, "leaks"), ContainsSubstring("allocate (helpers.py:3)"));
  const auto path = folder.path() / "frames";
  std::ofstream(path) << "framework python */helpers.py\n";
  const std::string options = "leaks --frames " + path.string();
  const auto text = report_of(journal, options);
  CHECK_THAT(text, ContainsSubstring("step (train.py:9)"));
  CHECK(text.find("allocate (helpers.py") == std::string::npos);
}
