// The device is there, and others have it: their memory, their contexts, their exclusive right.
#include "situations.hpp"

using namespace gpumem::test;

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

Line device(std::uint64_t capacity_mib) { return {{"capacity", capacity_mib * mebibyte}}; }

Line exclusive(const char* mode = "exclusive_process") { return {{"compute_mode", mode}}; }

std::string process_text(int pid) { return "process " + std::to_string(pid); }

// Starts as TensorFlow does, over a runtime that makes the context when memory is freed, or when the device is chosen.
std::vector<std::string> tensorflow() { return {program("tensorflow_like")}; }

}  // namespace

TEST_CASE("situations: another job holds the memory before CUDA starts, and a second device has room") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const auto& [runtime, api] :
       {std::pair<const char*, const char*>{"libcudart.so.11.0", "cudaFree"}, {"libcudart.so.13", "cudaSetDevice"}}) {
    INFO(runtime);
    Stage stage;
    share(stage, {{"devices", {device(11178), device(11178)}}}).set("CUDA_STUBS_RUNTIME", runtime);
    const auto [holder, failure] = first_failure_beside(stage, {"start", "retain", "alloc=10608"}, tensorflow());
    CHECK(failure.at("api") == api);
    CHECK(failure.at("device") == 0);
    check_cause(failure, "memory_held", "proven",
                {"170.0 MiB free of 10.9 GiB", process_text(holder), "situation start retain", "holds 10.8 GiB",
                 "0000:01:00.0", "CUDA_VISIBLE_DEVICES=1, which has 10.9 GiB free"});
  }
}

TEST_CASE("situations: only the second device of the loop is full") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {device(11178), device(11178)}}}).set("CUDA_STUBS_RUNTIME", "libcudart.so.12");
  const auto [holder, failure] =
      first_failure_beside(stage, {"start", "device=1", "retain", "alloc=10700"}, tensorflow());
  CHECK(failure.at("device") == 1);
  check_cause(failure, "memory_held", "proven",
              {"GPU 1 ", "0000:02:00.0", process_text(holder), "CUDA_VISIBLE_DEVICES=0, which has 10.5 GiB free"});
}

TEST_CASE("situations: the list of visible devices names the full one by its UUID") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line full = device(8192), other = device(8192);
  full["uuid"] = "GPU-aaaaaaaa-0000-0000-0000-000000000001";
  other["uuid"] = "GPU-bbbbbbbb-0000-0000-0000-000000000002";
  share(stage, {{"devices", {other, full}}});
  auto victim = situation({"start", "retain"});
  victim.insert(victim.begin(), {"env", "CUDA_VISIBLE_DEVICES=GPU-aaaaaaaa"});
  const auto [holder, failure] = first_failure_beside(stage, {"start", "device=1", "retain", "alloc=7700"}, victim);
  check_cause(failure, "memory_held", "proven",
              {"number 1 of nvidia-smi", process_text(holder),
               "CUDA_VISIBLE_DEVICES=GPU-bbbbbbbb-0000-0000-0000-000000000002, which has 8.0 GiB free"});
}

TEST_CASE("situations: CUDA's order of devices is the reverse of the bus's") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line fast = device(8192), slow = device(16384);
  fast["pci_bus_id"] = "0000:65:00.0";
  slow["pci_bus_id"] = "0000:17:00.0";
  share(stage, {{"devices", {fast, slow}}});
  const auto [holder, failure] =
      first_failure_beside(stage, {"start", "retain", "alloc=7700"}, situation({"start", "retain"}));
  check_cause(failure, "memory_held", "proven",
              {"GPU 0 ", "0000:65:00.0", "number 1 of nvidia-smi", process_text(holder)});
}

TEST_CASE("situations: another process that has reserved nearly all sits idle") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage);
  const auto [holder, failure] =
      first_failure_beside(stage, {"start", "retain", "alloc=15850"}, situation({"start", "retain"}));
  check_cause(failure, "memory_held", "proven", {process_text(holder), "holds 15.9 GiB"});
  CHECK(words_of(failure).find("this process held") == std::string::npos);
}

TEST_CASE("situations: many workers with a context each fill the device") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {device(16384)}}});
  const auto failure =
      failure_of_child(stage, situation({"workers=" + stage.folder().string(), "start", "create", "alloc=1"}));
  CHECK(failure.at("api") == "cuCtxCreate_v2");
  check_cause(failure, "many_contexts", "proven",
              {"40 processes hold about 401.0 MiB each", "15.7 GiB in all", "40.0 MiB of allocations", "MPS"});
}

TEST_CASE("situations: many workers whose allocations fill the device are no contexts' fault") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage);
  const auto failure =
      failure_of_child(stage, situation({"workers=" + stage.folder().string(), "start", "retain", "alloc=1600"}));
  check_cause(failure, "memory_held", "likely", {"384.0 MiB free", "holds 2.0 GiB", "3 more processes use the device"});
}

TEST_CASE("situations: an exclusive device is another process's") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const char* mode : {"exclusive_process", "exclusive_thread"}) {
    INFO(mode);
    Stage stage;
    share(stage, {{"devices", {exclusive(mode)}}});
    const auto [holder, failure] = first_failure_beside(stage, {"start", "retain"}, situation({"start", "retain"}));
    check_cause(failure, "exclusive_other_process", "proven",
                {mode, process_text(holder), "holds 400.0 MiB", "nvidia-smi -c 0"});
    CHECK(words_of(failure).find("the parent") == std::string::npos);
  }
}

TEST_CASE("situations: an exclusive device is held by the parent, which started this process") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {exclusive()}}});
  const auto failure = failure_of_child(stage, situation({"start", "retain", "spawn", "start", "retain"}));
  check_cause(failure, "exclusive_other_process", "proven",
              {"the parent of this process", "situation start retain", "Let the parent end its use"});
}

TEST_CASE("situations: an exclusive device is held by this very process, through another library") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line device = exclusive();
  device["exclusive_within_process"] = true;
  const auto failure = first_failure(share(stage, {{"devices", {device}}}), situation({"start", "create", "retain"}));
  CHECK(failure.at("api") == "cuDevicePrimaryCtxRetain");
  check_cause(failure, "exclusive_same_process", "proven", {"exclusive_process", "this same process"});
}

TEST_CASE("situations: a context of an exclusive-thread device is made current in a second thread") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {exclusive("exclusive_thread")}}});
  const auto failure = first_failure(stage, situation({"start", "retain", "thread", "current"}));
  CHECK(failure.at("code") == 216);
  check_cause(failure, "other_thread", "proven", {"exclusive_thread"});
}

TEST_CASE("situations: an exclusive device whose holder is not to be seen") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {exclusive()}}, {"rules", {rule("cuDevicePrimaryCtxRetain", 46)}}});
  check_cause(first_failure(stage, situation({"start", "retain"})), "exclusive_unseen_holder", "likely",
              {"no process is listed"});
}

TEST_CASE("situations: a prohibited device") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {exclusive("prohibited")}}});
  check_cause(first_failure(stage, situation({"start", "retain"})), "prohibited_mode", "proven", {"prohibited"});
}

TEST_CASE("situations: busy in the default mode, with nobody on the device") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {rule("cuDevicePrimaryCtxRetain", 46)}}});
  const auto failure = first_failure(stage, situation({"start", "retain"}));
  check_open(failure, {"device_refuses"});
  CHECK(is_ruled_out(failure, "exclusive_unseen_holder"));
}

TEST_CASE("situations: an exclusive device is MPS's, whose server this process does not reach") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {exclusive()}}}).set("CUDA_MPS_PIPE_DIRECTORY", stage.folder() / "nowhere");
  const auto server = stage.folder() / "nvidia-cuda-mps-server";
  std::filesystem::copy_file(program("situation"), server);
  const auto [holder, failure] =
      first_failure_beside(stage, {"start", "retain"}, situation({"start", "retain"}), Holder::lives, server);
  check_cause(failure, "exclusive_other_process", "proven",
              {process_text(holder), "nvidia-cuda-mps-server", "make this process its client"});
}

TEST_CASE("situations: the program chose another device than the job was given, and that one is taken") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {exclusive(), exclusive()}}}).set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  auto victim = situation({"set=CUDA_VISIBLE_DEVICES=0", "start", "retain"});
  victim.insert(victim.begin(), {"env", "CUDA_VISIBLE_DEVICES=1"});
  const auto [holder, failure] = first_failure_beside(stage, {"start", "retain"}, victim);
  check_cause(failure, "exclusive_other_process", "proven",
              {process_text(holder), "0000:01:00.0", "CUDA_VISIBLE_DEVICES was \"1\"", "had become \"0\""});
}

TEST_CASE("situations: a device that is cut into instances, of which there is none") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {{{"mig", "enabled"}}}}, {"rules", {rule("cuDevicePrimaryCtxRetain", 46)}}});
  check_cause(first_failure(stage, situation({"start", "retain"})), "mig_without_instance", "likely",
              {"MIG is on for GPU 0"});
}
