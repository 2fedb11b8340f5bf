// Why CUDA did not start: what is known in, cause and evidence out.
#include "catch.hpp"
#include "failed_call.hpp"

using namespace gpumem;

TEST_CASE("out of memory at the start is never called a full GPU without a figure that shows it") {
  auto call = FailedCall::start(2);
  const auto why = call.why();
  CHECK(why.sureness == Certainty::open);
  CHECK(why.candidates.size() >= 3);
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("no figure of free device memory"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("not looked at"));
  CHECK(why.verdict.find("full") == std::string::npos);
}

TEST_CASE("out of memory at the start with an empty GPU is not the GPU's memory") {
  auto call = FailedCall::start(2);
  call.add_gpu(15000);
  const auto why = call.why();
  CHECK(why.sureness == Certainty::open);
  CHECK(is_ruled_out(why, "memory_held"));
  CHECK(has_candidate(why, "host_memory"));
  CHECK(has_candidate(why, "driver_mismatch"));
  CHECK(why.verdict.find("full") == std::string::npos);
}

TEST_CASE("a full GPU: its holders, what is free, and where there is room") {
  auto call = FailedCall::start(2);
  call.group.first.device = 0;
  call.process.devices[0].uuid = "GPU-0";
  call.process.devices[1].device = 1;
  call.process.devices[1].uuid = "GPU-1";
  call.add_gpu(100);
  call.add_gpu(10956);
  call.add_user(0, 4242, 15000, "python");
  const auto why = call.why();
  CHECK(why.id == "memory_held");
  CHECK(why.sureness == Certainty::proven);
  CHECK_THAT(why.verdict, ContainsSubstring("GPU 0 (Test GPU, 0000:01:00.0) is full: 100.0 MiB free of 16.0 GiB"));
  CHECK_THAT(all_text(why.evidence),
             ContainsSubstring("process 4242 (`python`, running for 40 minutes) holds 14.6 GiB"));
  CHECK_THAT(all_text(why.advice), ContainsSubstring("Stop process 4242"));
  CHECK_THAT(all_text(why.advice), ContainsSubstring("CUDA_VISIBLE_DEVICES=1, which has 10.7 GiB free"));
}

TEST_CASE("a GPU full of contexts is told apart from one that somebody fills") {
  auto call = FailedCall::start(2);
  call.add_gpu(50);
  for (int i = 0; i < 38; ++i) call.add_user(0, 5000 + i, 400, "postgres");
  const auto why = call.why();
  CHECK(why.id == "many_contexts");
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("38 processes hold about 400.0 MiB each, 14.8 GiB in all"));
  CHECK_THAT(all_text(why.advice), ContainsSubstring("MPS"));
}

TEST_CASE("memory that nobody is listed for: the reasons why nobody is are told") {
  auto call = FailedCall::start(2);
  call.add_gpu(100);
  call.machine["system"]["pid_namespace"] = {{"initial", false}};
  call.machine["system"]["holders"] = {{{"pid", 77}, {"name", "python"}, {"files", {"/dev/nvidia0"}}, {"state", "Z"}}};
  const auto why = call.why();
  CHECK(why.id == "memory_held");
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("used with no process listed for them"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("a container"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("process 77 (python, a zombie"));
}

TEST_CASE("out of memory under an address-space limit names the limit, and the room on the device") {
  auto call = FailedCall::start(2);
  call.process.process.limit_as = 16ull << 30;
  CHECK(call.why().id == "address_space_limit");
  CHECK_THAT(call.why().evidence.front().text, ContainsSubstring("RLIMIT_AS is 16.0 GiB"));
  call.add_gpu(15000);
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("14.6 GiB free"));
  call.machine["nvml"]["devices"][0]["memory"]["free_bytes"] = 1 << 20;
  CHECK(call.why().id == "memory_held");
}

TEST_CASE("AddressSanitizer blocks the start, unless it was told to leave the gap") {
  auto call = FailedCall::start(2);
  call.add_gpu(15000);
  call.add_module("/usr/lib/x86_64-linux-gnu/libasan.so.8");
  CHECK(call.why().id == "sanitizer");
  call.process.process.env["ASAN_OPTIONS"] = "protect_shadow_gap=0";
  CHECK(call.why().sureness == Certainty::open);
  CHECK(is_ruled_out(call.why(), "sanitizer"));
}

TEST_CASE("a sanitizer that is linked into the program shows by its shadow, and is a candidate") {
  auto call = FailedCall::start(2);
  call.group.state = StateRecord{};
  call.group.state->virtual_bytes = 2ull << 40;
  CHECK_FALSE(has_candidate(call.why(), "sanitizer"));
  call.group.state->virtual_bytes = 20ull << 40;
  CHECK(has_candidate(call.why(), "sanitizer"));
}

TEST_CASE("a look at the machine without the process's library path is told as such") {
  auto call = FailedCall::start(2);
  call.group.probe =
      ProbeRecord{{2, 0}, "ok", "without LD_LIBRARY_PATH, with which gpumem ended with status 127", 1, "{}"};
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("the machine was looked at without LD_LIBRARY_PATH"));
}

TEST_CASE("a container at its memory limit") {
  auto call = FailedCall::start(2);
  call.add_gpu(15000);
  call.machine["system"]["cgroup_memory"]["levels"] = {{{"folder", "/sys/fs/cgroup"},
                                                        {"memory.max", 1 << 30},
                                                        {"memory.current", (1 << 30) - 4096},
                                                        {"events", {{"oom_kill", 1}}}}};
  CHECK(call.why().id == "host_memory");
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("oom_kill 1"));
  call.machine["system"]["cgroup_memory"]["levels"][0]["stat"] = {{"inactive_file", 900 << 20}};
  CHECK(call.why().id != "host_memory");
}

TEST_CASE("no descriptors are left for the driver's files") {
  auto call = FailedCall::start(999);
  call.group.state = StateRecord{};
  call.group.state->descriptors = 1020;
  call.group.state->limits.open_files = 1024;
  CHECK(call.why().id == "descriptors");
  call.group.state->descriptors = 20;
  CHECK(call.why().id != "descriptors");
}

TEST_CASE("a forked child of a process that had started CUDA is told so") {
  auto call = FailedCall::start(3);
  call.process.first_init = EventRecord{};
  CHECK(call.why().sureness == Certainty::open);
  call.process.first_init.reset();
  call.process.process.forked_from = ForkOrigin{42, "parent.jsonl", 3, false, std::nullopt};
  CHECK(call.why().sureness == Certainty::open);
  call.process.process.forked_from->initialized = true;
  call.process.process.forked_from->init = ForeignEvent{"cudaGetDeviceCount", 5, 1};
  const auto why = call.why();
  CHECK(why.id == "forked");
  CHECK(why.sureness == Certainty::proven);
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("it had done so by cudaGetDeviceCount"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("parent.jsonl"));
}

TEST_CASE("a driver call before cuInit") {
  auto call = FailedCall::start(3);
  call.group.first.api = "cuCtxCreate_v2";
  CHECK(call.why().id == "before_init");
}

TEST_CASE("MPS: the folder or its socket is missing") {
  auto call = FailedCall::start(805);
  call.process.process.env["CUDA_MPS_PIPE_DIRECTORY"] = "/mps";
  CHECK(call.why().id == "mps_unreachable");
  CHECK(call.why().sureness == Certainty::likely);
  call.machine["system"]["mps"] = {
      {"pipe_directory", "/mps"}, {"chosen", true}, {"exists", true}, {"control_exists", false}};
  CHECK(call.why().sureness == Certainty::proven);
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("socket in it is missing"));
}

TEST_CASE("an NVSwitch machine whose fabric manager is missing, and one that came up later") {
  auto call = FailedCall::start(802);
  call.machine["system"]["fabric_manager"] = {{"needed", true}, {"processes", nlohmann::json::array()}};
  call.process.first_init = EventRecord{};
  call.process.first_init->ns = call.group.first.ns + 5'000'000;
  const auto why = call.why();
  CHECK(why.id == "fabric_manager");
  CHECK(why.sureness == Certainty::proven);
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("5 ms later"));
}

TEST_CASE("the driver's own answer decides, not what the runtime made of it") {
  auto call = FailedCall::start(999);
  call.group.first.api = "cudaFree";
  call.group.first.in = "cuInit";
  call.group.first.in_code = 802;
  CHECK(call.why().id == "fabric_manager");
}

TEST_CASE("a list of devices that the program exchanged after the driver had read it") {
  auto call = FailedCall::start(2);
  call.process.first_init = EventRecord{};
  call.process.process.env["CUDA_VISIBLE_DEVICES"] = "0,1";
  call.group.first.env_now["CUDA_VISIBLE_DEVICES"] = "1";
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("the change has no effect"));
  call.process.first_init->ns = 3'000'000;
  call.process.first_init->env_now["CUDA_VISIBLE_DEVICES"] = "1";
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("before cuInit, which reads it, succeeded at 3 ms"));
  call.process.first_init->env_now["CUDA_VISIBLE_DEVICES"] = "0";
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("after cuInit had succeeded, which read \"0\""));
}

TEST_CASE("NVML that is absent, refuses or hangs is told as such") {
  auto call = FailedCall::start(2);
  call.machine = {{"nvml", {{"status", "timed out"}, {"in", "nvmlInit_v2"}}}};
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("NVML told nothing (timed out: nvmlInit_v2)"));
  call.machine = {{"nvml", {{"status", "refused"}, {"code", 9}, {"text", "Driver Not Loaded"}}}};
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("refused: Driver Not Loaded"));
}

TEST_CASE("what is no probe's answer is told, and harms nothing") {
  for (const char* said : {"", "[]", "{", "null", R"({"nvml":7,"system":[1],"device_nodes":"x"})"}) {
    auto call = FailedCall::start(2);
    call.group.probe = ProbeRecord{{2, 0}, "ok", "", 1, said};
    CHECK(call.why().sureness == Certainty::open);
  }
}

TEST_CASE("every piece of evidence names its line, or the file that it is from") {
  auto call = FailedCall::start(2);
  call.add_gpu(100);
  call.add_user(0, 4242, 15000, "python");
  const auto why = call.why();
  for (const auto& each : why.evidence) CHECK(each.line.has_value());
}

TEST_CASE("an unknown code is shown raw") {
  auto call = FailedCall::start(4711);
  CHECK_THAT(call.why().verdict, ContainsSubstring("4711"));
}

TEST_CASE("a call that names no device is not put down to one of several") {
  auto call = FailedCall::start(2);
  call.add_gpu(100);
  call.add_gpu(15000);
  CHECK(call.why().sureness == Certainty::open);
  CHECK(has_candidate(call.why(), "memory_held"));
  call.machine["nvml"]["devices"][1]["memory"]["free_bytes"] = 100 << 20;
  CHECK(call.why().id == "memory_held");
}

TEST_CASE("a limit on address space that is far above all memory is none, and a measured shortage comes first") {
  auto call = FailedCall::start(2);
  call.add_gpu(15000);
  call.process.process.limit_as = 20ull << 40;
  CHECK(is_ruled_out(call.why(), "address_space_limit"));
  call.process.process.limit_as = 16ull << 30;
  CHECK(call.why().id == "address_space_limit");
  call.machine["nvml"]["devices"][0]["memory"]["free_bytes"] = 250 << 20;
  CHECK(call.why().id == "memory_held");
}
