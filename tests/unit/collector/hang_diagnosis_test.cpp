// What is said of a call that did not return.
#include <csignal>

#include "catch.hpp"
#include "diagnose/hang.hpp"
#include "failed_call.hpp"

using namespace gpumem;

namespace {

constexpr std::uint64_t second = 1'000'000'000;

struct HangingCall {
  FailedCall known = FailedCall::start(0);  // nothing failed: only what is around it
  EventRecord begin;

  explicit HangingCall(const std::string& api) {
    begin.op = "begin";
    begin.api = api;
    begin.ns = second;
    begin.tid = 4000;
    known.process.in_flight = {begin};
    known.process.end.how = Ending::killed;
    known.process.end.ns = 31 * second;
    known.process.last_ns = second;
  }

  Diagnosis why() { return explain(known.process, known.neighbours).hangs.at(0).why; }
};

}  // namespace

TEST_CASE("a call that did not return for long waits; one that was entered just before the end may have been slow") {
  HangingCall call("cuInit");
  CHECK(call.why().sureness == Certainty::open);
  CHECK_THAT(call.why().verdict, ContainsSubstring("waits for something"));
  CHECK(has_candidate(call.why(), "device_refuses"));
  CHECK_FALSE(has_candidate(call.why(), "mps_unreachable"));
  CHECK_FALSE(has_candidate(call.why(), "other_thread"));
  call.known.process.end.ns = 2 * second;
  CHECK_THAT(call.why().verdict, ContainsSubstring("not under way for longer than a start of CUDA can take"));
  call.known.process.end.ns.reset();
  CHECK_THAT(call.why().verdict, ContainsSubstring("for how long is not known"));
  call.known.process.last_ns = 20 * second;
  CHECK_THAT(call.why().verdict, ContainsSubstring("waits for something"));
  call.known.process.reached_its_end = true;
  CHECK_THAT(call.why().verdict, ContainsSubstring("need not have hung"));
}

TEST_CASE("compiling code is thought of where code can be compiled") {
  CHECK_FALSE(has_candidate(HangingCall("cuInit").why(), "code_compiled"));
  CHECK(has_candidate(HangingCall("cuModuleLoadData").why(), "code_compiled"));
  HangingCall inside("cudaFree");
  inside.known.process.in_flight[0].in = "cuInit";
  CHECK_FALSE(has_candidate(inside.why(), "code_compiled"));
}

TEST_CASE("a crash inside a call is no hang, but who crashed is not known where several were inside") {
  HangingCall call("cuInit");
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) {
    call.known.process.end.signal = signal;
    CHECK(call.why().id == "crashed_inside");
  }
  call.known.process.end.signal = SIGKILL;
  CHECK(call.why().id.empty());
  call.known.process.end.signal = SIGSEGV;
  call.known.process.in_flight.push_back(call.begin);
  CHECK(call.why().id.empty());
  CHECK(has_candidate(call.why(), "other_thread"));
}

TEST_CASE("a forked child of a process that had started CUDA hangs for that") {
  HangingCall call("cuCtxCreate_v2");
  call.known.process.process.forked_from = ForkOrigin{42, "parent.jsonl", 3, true, std::nullopt};
  CHECK(call.why().id == "forked");
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("process 42 had started CUDA before it forked"));
}

TEST_CASE("an earlier look at the machine is told at a hang: device files, MPS, the kernel's log") {
  HangingCall call("cuInit");
  call.known.add_gpu(15000);
  call.known.add_node("/dev/nvidia-uvm", "EIO");
  call.known.add_node("/dev/nvidiactl", "ok");
  call.known.machine["system"]["mps"] = {{"pipe_directory", "/mps"}, {"exists", true}, {"control_exists", false}};
  call.known.machine["system"]["kernel_log"]["lines"] = {
      {{"seconds_ago", 5}, {"text", "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."}}};
  call.known.group.probe = ProbeRecord{{1, 0}, "ok", "", 1, call.known.machine.dump()};
  call.known.process.failures = {call.known.group};
  const auto why = call.why();
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("/dev/nvidia-uvm could not be opened (EIO)"));
  CHECK(all_text(why.evidence).find("nvidiactl") == std::string::npos);
  CHECK(has_candidate(why, "mps_unreachable"));
  CHECK_THAT(all_text(why.candidates.front().evidence), ContainsSubstring("socket in it is missing"));
  CHECK_THAT(all_text(why.candidates.at(1).evidence), ContainsSubstring("fallen off the bus"));
}

TEST_CASE("a compute mode that is not the default is told at a hang") {
  HangingCall call("cuCtxCreate_v2");
  call.known.process.devices[0].compute_mode = "default";
  CHECK(all_text(call.why().evidence).find("compute mode") == std::string::npos);
  call.known.process.devices[0].compute_mode = "exclusive_process";
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("compute mode of a device is exclusive_process"));
}

TEST_CASE("the lines behind a hang's diagnosis are named") {
  HangingCall call("cuInit");
  const auto lines = lines_behind(explain(call.known.process, call.known.neighbours));
  CHECK(lines.contains(LineOfJournal{"event", second, 4000}));
}
