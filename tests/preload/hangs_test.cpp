// A call never returns: its entry is in the journal, and the report names it and who made it.
#include <signal.h>

#include <thread>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

Line hanging(const std::string& call) { return {{"rules", {{{"call", call}, {"delay_ms", 60'000}}}}}; }

bool has_begun(const std::filesystem::path& folder, const std::string& call) {
  if (!std::filesystem::exists(folder)) return false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto text = read_text(entry.path());
    for (std::size_t at = 0; (at = text.find(R"("op":"begin")", at)) != std::string::npos; ++at)
      if (text.substr(at, 100).find('"' + call + '"') != std::string::npos) return true;
  }
  return false;
}

// The entry of the outermost call comes before what the call still does on its way to where it hangs.
void wait_until_nothing_is_written(const std::filesystem::path& folder) {
  const auto text = [&] {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) all += read_text(entry.path());
    return all;
  };
  for (std::string before, now = text(); before != now; now = text()) {
    before = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

Line not_returned(const Stage& stage) {
  const auto report = stage.gpumem({"failures", "--format", "json", stage.journals()});
  return Line::parse(report.out).at("processes").at(0).at("in_flight");
}

// Ends the program by the signal once the journal says that it has entered the call.
void hangs_in(const std::string& call, const std::string& told, std::vector<std::string> argv, int signal = SIGKILL,
              Cuda cuda = Cuda::simulated) {
  INFO(call << " hangs in " << argv[0]);
  Stage stage(cuda);
  stage.script(hanging(call));
  const auto outcome =
      stage.run({std::move(argv), stage.traced_environment(), {}, std::chrono::seconds(60), [&](int pid) {
                   for (int waited = 0; waited < 2000 && !has_begun(stage.journals(), told); ++waited)
                     std::this_thread::sleep_for(std::chrono::milliseconds(10));
                   if (has_begun(stage.journals(), told)) wait_until_nothing_is_written(stage.journals());
                   kill(pid, signal);
                 }});
  INFO(outcome);
  CHECK(outcome.signal == signal);
  const auto report = stage.gpumem({"failures", stage.journals()});
  INFO(report);
  const auto in_flight = not_returned(stage);
  REQUIRE(in_flight.size() == 1);
  CHECK(in_flight[0].at("api") == told);
  const auto inner = in_flight[0].at("inner_api");
  if (!inner.is_null()) CHECK(inner == call);
  const std::string shown = inner.is_null() ? told : told + " (in " + inner.get<std::string>() + ")";
  CHECK(report.out.find(shown + ", entered at ") != std::string::npos);
  CHECK_FALSE(in_flight[0].at("site").is_null());
}

}  // namespace

TEST_CASE("hangs: each call that starts the driver, by each signal") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const int signal : {SIGKILL, SIGTERM}) {
    hangs_in("cuInit", "cuInit", {program("pairs"), "1"}, signal);
    hangs_in("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", {program("pairs"), "1"}, signal);
    hangs_in("cuCtxCreate_v2", "cuCtxCreate_v2", {program("first_failures"), "start", "make_context"}, signal);
  }
}

TEST_CASE("hangs: a call of the runtime that starts CUDA by itself, in each of the driver's calls inside it") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const char* inner : {"cuInit", "cuDevicePrimaryCtxRetain", "cuMemAlloc_v2"})
    hangs_in(inner, "cudaMalloc", {program("allocates_shared")});
}

TEST_CASE("hangs: in a call of the driver that the shim does not know, inside one of the runtime") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  hangs_in("cuCtxGetCurrent", "cudaMalloc", {program("allocates_shared")});
}

TEST_CASE("hangs: NVIDIA's own runtime, which starts the driver") {
  NEEDS(scripted_driver);
  NEEDS(genuine_runtime);
  hangs_in("cuInit", "cudaFree", {program("start_shared")}, SIGKILL, Cuda::genuine_runtime_over_simulated_driver);
}

TEST_CASE("hangs: any call before a context was seen, and the first loading of code") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  hangs_in("cuStreamCreate", "cuStreamCreate", {program("first_failures"), "start", "stream"});
  hangs_in("cuMemFree_v2", "cuMemFree_v2", {program("first_failures"), "start", "free_nothing"});
  hangs_in("cuModuleLoadData", "cuModuleLoadData", {program("first_failures"), "start", "make_context", "load_code"});
  hangs_in("cuLaunchKernel", "cuLaunchKernel", {program("first_failures"), "start", "make_context", "launch"});
}

TEST_CASE("hangs: the entry of a function is told once, and none while memory comes and goes") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("pairs"), "1000"});
  CHECK(stage.journal().events("begin").size() == 3);  // cuInit, cuDeviceGet, cuDevicePrimaryCtxRetain
  Stage repeating;
  repeating.run_traced({program("first_failures"), "start", "start", "stream", "stream", "make_context", "load_code",
                        "load_code", "launch", "launch", "stream"});
  std::map<std::string, int> entries;
  for (const auto& line : repeating.journal().events("begin")) ++entries[line.at("api")];
  CHECK(
      entries ==
      std::map<std::string, int>{
          {"cuInit", 1}, {"cuStreamCreate", 1}, {"cuCtxCreate_v2", 1}, {"cuModuleLoadData", 1}, {"cuLaunchKernel", 1}});
}

namespace {

// What is said of a program that hangs in cuInit beside another one that does, while both are there.
Line hang_of_two(Stage& stage, int signal_before) {
  stage.script(hanging("cuInit"));
  const std::vector<std::string> argv{program("pairs"), "1"};
  const auto begun = [&](std::size_t count) {
    const auto list = stage.journals();
    for (int waited = 0; waited < 2000; ++waited) {
      std::size_t seen = 0;
      if (std::filesystem::exists(list))
        for (const auto& entry : std::filesystem::directory_iterator(list))
          seen += read_text(entry.path()).find(R"("op":"begin")") != std::string::npos;
      if (seen >= count) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  Line processes;
  int victim = 0;
  const auto look = [&](int pid) {
    begun(2);
    victim = pid;
    kill(pid, signal_before);
    const auto report = stage.gpumem({"failures", "--format", "json", stage.journals()});
    processes = Line::parse(report.out).at("processes");
    kill(pid, SIGKILL);
  };
  stage.run({argv, stage.traced_environment(), {}, std::chrono::seconds(60), [&](int other) {
               begun(1);
               stage.run({argv, stage.traced_environment(), {}, std::chrono::seconds(60), look});
               kill(other, SIGKILL);
             }});
  for (const auto& process : processes)
    if (process.at("pid") == victim) return process.at("in_flight").at(0).at("diagnosis");
  return {};
}

std::string evidence_for(const Line& diagnosis, const std::string& id) {
  for (const auto& each : diagnosis.at("candidates"))
    if (each.at("id") == id) return each.at("evidence").dump();
  return "no candidate " + id;
}

}  // namespace

TEST_CASE("hangs: what is known beside the call: others in the same one, and MPS") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("CUDA_MPS_PIPE_DIRECTORY", "/nowhere/mps");
  const auto diagnosis = hang_of_two(stage, SIGCONT);
  INFO(diagnosis.dump(2));
  CHECK(diagnosis.at("certainty") == "open");
  CHECK_THAT(evidence_for(diagnosis, "mps_unreachable"), ContainsSubstring("/nowhere/mps"));
  CHECK_THAT(evidence_for(diagnosis, "waits_in_turn"), ContainsSubstring("had not returned from cuInit either"));
}

TEST_CASE("hangs: a process that is stopped is said to be so") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto diagnosis = hang_of_two(stage, SIGSTOP);
  INFO(diagnosis.dump(2));
  CHECK(diagnosis.at("id") == "stopped");
}

TEST_CASE("hangs: a call that returned is none") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("allocates_shared")});
  CHECK(not_returned(stage).empty());
}
