// What other journals of the folder tell about a failure.
#include <fstream>

#include "catch.hpp"
#include "diagnose/neighbours.hpp"
#include "failed_call.hpp"
#include "journal_texts.hpp"

using namespace gpumem;

namespace {

std::string process_of(int pid, std::uint64_t wall_ns, const std::string& more = "") {
  return R"({"t":"process","ns":0,"tid":)" + std::to_string(pid) + R"(,"schema":1,"wall_ns":)" +
         std::to_string(wall_ns) + R"(,"pid":)" + std::to_string(pid) +
         R"(,"ppid":1,"host":"node7","start":5,"n":0,"argv":["python","serve.py"])" + more + "}\n";
}

const std::string device_and_block =
    R"({"t":"device","ns":5,"tid":1,"d":0,"uuid":"GPU-0"})"
    "\n"
    R"({"t":"event","ns":10,"tid":1,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","p":"0x1000","n":16000000000,"d":0})"
    "\n";

class Folder {
 public:
  void add(int pid, const std::string& text) {
    std::ofstream(scratch_ / ("gpumem-node7-" + std::to_string(pid) + "-5-0.0.jsonl")) << text;
  }
  void end(int pid, int signal) {
    std::ofstream(scratch_ / ("gpumem-node7-" + std::to_string(pid) + "-5-0.status.json"))
        << R"({"schema":1,"pid":)" << pid << R"(,"command":["python"],"started_ns":1,"ended_ns":200,"signal":)"
        << signal << "}";
  }
  Neighbourhood neighbours() const { return Neighbourhood(scratch_.path()); }

 private:
  ScratchFolder scratch_;
};

}  // namespace

TEST_CASE("a holder of the memory is named from its own journal") {
  Folder folder;
  constexpr std::uint64_t hour = 3600ull * 1'000'000'000;
  folder.add(4242, process_of(4242, hour) + device_and_block);
  auto call = FailedCall::start(2);
  call.process.process.wall_ns = 2 * hour;
  call.add_gpu(100);
  call.add_user(0, 4242, 15300, "worker");
  call.machine["nvml"]["processes"][0]["start_ticks"] = 5;
  call.neighbours = folder.neighbours();
  const auto text = all_text(call.why().evidence);
  CHECK_THAT(text, ContainsSubstring("process 4242 (`python serve.py`, running for 40 minutes, no CUDA call since "));
  call.machine["nvml"]["processes"][0]["start_ticks"] = 6;
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("process 4242 (`worker`"));
}

TEST_CASE("memory that nobody is listed for is that of a killed process whose children live on") {
  Folder folder;
  folder.add(4242, process_of(4242, 1) + device_and_block);
  folder.end(4242, 9);
  folder.add(
      4243,
      process_of(
          4243, 50,
          R"(,"forked_from":{"pid":4242,"journal":"gpumem-node7-4242-5-0.0.jsonl","events":2,"initialized":true})") +
          R"({"t":"event","ns":1000000000000,"tid":1,"op":"free","api":"cudaFree","p":"0x1","unknown":true})"
          "\n");
  auto call = FailedCall::start(2);
  call.process.process.wall_ns = 500;
  call.add_gpu(100);
  call.neighbours = folder.neighbours();
  const auto text = all_text(call.why().evidence);
  CHECK_THAT(text, ContainsSubstring(
                       "process 4242 (`python serve.py`) was killed while it held 14.9 GiB, and its children 4243"));
}

TEST_CASE("the parent of a forked child tells where it started CUDA, and how many it forked") {
  Folder folder;
  folder.add(4242, process_of(4242, 1) +
                       R"({"t":"stack","ns":1,"tid":1,"id":3,"f":["0:0x5"]})"
                       "\n"
                       R"({"t":"event","ns":2,"tid":1,"op":"init","api":"cudaGetDeviceCount","in":"cuInit","s":3})"
                       "\n");
  const std::string origin =
      R"(,"forked_from":{"pid":4242,"journal":"gpumem-node7-4242-5-0.0.jsonl","events":2,"initialized":true})";
  for (const int pid : {4243, 4244}) folder.add(pid, process_of(pid, 50, origin));
  auto call = FailedCall::start(3);
  call.process.process.forked_from =
      ForkOrigin{4242, "gpumem-node7-4242-5-0.0.jsonl", 2, true, ForeignEvent{"cudaGetDeviceCount", 2, 3}};
  call.neighbours = folder.neighbours();
  const auto why = call.why();
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("2 processes that were forked from it"));
  REQUIRE(why.evidence.size() >= 2);
  REQUIRE(why.evidence[1].called_in);
  CHECK(why.evidence[1].called_in->init_frames.size() == 1);
}

namespace {

const std::string context_line =
    R"({"t":"event","ns":10,"tid":1,"op":"context","api":"cuCtxCreate_v2","d":0,"c":1,"h":"0x1"})"
    "\n";

std::string module_of(int id, const std::string& path, const std::string& build) {
  return R"({"t":"module","ns":5,"tid":1,"id":)" + std::to_string(id) + R"(,"path":")" + path + R"(","build_id":")" +
         build + R"(","base":"0x0","lo":"0x0","hi":"0x1","role":null})" + "\n";
}

std::string libraries_told(FailedCall& call) {
  std::string told;
  for (const auto& each : call.why().evidence)
    if (each.text.find("which did start CUDA") != std::string::npos || each.text.starts_with("it had") ||
        each.text.starts_with("and "))
      told += each.text + "\n";
  return told;
}

}  // namespace

TEST_CASE("libraries are held against those of the process that is most like the failed one") {
  Folder folder;
  const std::string same_program = R"(,"exe":"/usr/bin/python")", theirs = module_of(1, "/wheel/libtorch.so", "aa");
  folder.add(4242, process_of(4242, 100, R"(,"exe":"/usr/bin/other")") + context_line + theirs);
  folder.add(4243, process_of(4243, 300, same_program) + context_line + theirs);
  folder.add(4244, process_of(4244, 200, same_program) + context_line + theirs);
  folder.add(4245, process_of(4245, 101, same_program) + theirs);  // no context
  folder.add(4246, process_of(4246, 102, same_program) + context_line + theirs +
                       R"({"t":"failure","ns":20,"tid":1,"tried":"init","api":"cuInit","code":999})"
                       "\n");
  auto call = FailedCall::start(999);
  call.process.process.wall_ns = 110;
  call.process.process.exe = "/usr/bin/python";
  call.add_module("/download/libtorch.so.2").build_id = "bb";
  call.neighbours = folder.neighbours();
  CHECK_THAT(libraries_told(call), ContainsSubstring("process 4244 (`python serve.py`), which did start CUDA, had "
                                                     "/wheel/libtorch.so (build aa), and this one "
                                                     "/download/libtorch.so.2 (build bb)\n"));
  call.process.all_modules[1].build_id = "aa";
  CHECK_THAT(libraries_told(call), ContainsSubstring("(build aa), a copy of the same build\n"));
  call.process.process.host = "elsewhere";
  CHECK(libraries_told(call).empty());
}

TEST_CASE("of libraries that only one process had, those are told that any journal would have") {
  Folder folder;
  folder.add(4242, process_of(4242, 100) + context_line + module_of(1, "/usr/lib/libfoo.so", "aa") +
                       module_of(2, "/usr/lib/libcudnn.so.9", "bb"));
  auto call = FailedCall::start(999);
  call.add_module("/usr/lib/libbar.so");
  call.neighbours = folder.neighbours();
  CHECK(libraries_told(call) ==
        "process 4242 (`python serve.py`), which did start CUDA, had /usr/lib/libcudnn.so.9 "
        "(build bb), which this one had not loaded when it failed\n");
  for (int i = 0; i < 9; ++i) call.add_module("/usr/lib/libcuda" + std::to_string(i) + ".so");
  CHECK_THAT(libraries_told(call), ContainsSubstring("had not loaded /usr/lib/libcuda0.so, as this one had"));
  CHECK_THAT(libraries_told(call), ContainsSubstring("and 2 more differences\n"));
}

TEST_CASE("libraries explain nothing where something else is proven") {
  Folder folder;
  folder.add(4242, process_of(4242, 100) + context_line);
  auto call = FailedCall::start(2);
  call.neighbours = folder.neighbours();
  CHECK_THAT(libraries_told(call), ContainsSubstring("had the same GPU libraries"));
  call.add_gpu(100);
  CHECK(call.why().id == "memory_held");
  CHECK(libraries_told(call).empty());
}

TEST_CASE("bytes over time keep what was held at each moment, however many there were") {
  BytesOverTime bytes;
  for (std::uint64_t second = 1; second <= 20000; ++second) bytes.note(second * 1'000'000'000, second);
  CHECK(bytes.at(0) == 0);
  const auto late = bytes.at(19999ull * 1'000'000'000);
  CHECK(late <= 19999);
  CHECK(late >= 19980);
  CHECK(bytes.at(~std::uint64_t{0}) == 20000);
}

TEST_CASE("a folder without journals, or none, has no neighbours") {
  CHECK(Neighbourhood().all().empty());
  CHECK(Neighbourhood("/nowhere/journal.jsonl").all().empty());
}
