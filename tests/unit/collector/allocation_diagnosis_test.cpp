// Why a request for memory failed, and what can be done about it.
#include "catch.hpp"
#include "failed_call.hpp"

using namespace gpumem;

namespace {

constexpr std::uint64_t gib = 1ull << 30;

SampleRecord driver_figures(std::uint64_t free, std::uint64_t total = 16 * gib) {
  SampleRecord sample;
  sample.device = 0;
  sample.free = free;
  sample.total = total;
  sample.why = "failure";
  return sample;
}

}  // namespace

TEST_CASE("the verdict on an allocation follows the driver's figures") {
  auto call = FailedCall::allocation(gib);
  CHECK(call.why().sureness == Certainty::open);
  CHECK_THAT(call.why().verdict, ContainsSubstring("no figure of free memory"));

  call.group.driver = driver_figures(5 << 20);
  const auto why = call.why();
  CHECK(why.id == "device_full");
  CHECK(why.sureness == Certainty::proven);
  CHECK_THAT(why.verdict, ContainsSubstring("1.0 GiB asked, 5.0 MiB free, 1019.0 MiB missing"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("at most 4.0 MiB would have fitted"));

  call.group.driver->free = 8 * gib;
  CHECK(call.why().sureness == Certainty::open);
  CHECK(has_candidate(call.why(), "fragmented"));
  CHECK(has_candidate(call.why(), "process_limit"));
}

TEST_CASE("without a figure of the driver the probe's serves, if it was taken then") {
  auto call = FailedCall::allocation(gib);
  call.add_gpu(100);
  CHECK(call.why().id == "device_full");
}

TEST_CASE("a request larger than the device can never fit, with or without a figure of the driver") {
  auto call = FailedCall::allocation(1ull << 40);
  call.group.device_total = 16 * gib;
  CHECK(call.why().id == "larger_than_device");
  CHECK(call.why().sureness == Certainty::proven);
  call.group.device_total.reset();
  call.group.driver = driver_figures(8 * gib);
  CHECK_THAT(call.why().verdict, ContainsSubstring("can never fit"));
}

TEST_CASE("what nobody in this process holds is named, and where it is large so is nvidia-smi") {
  auto call = FailedCall::allocation(4 * gib);
  call.group.driver = driver_figures(2 * gib);
  call.group.ledger = static_cast<std::int64_t>(5 * gib);
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("9.0 GiB are held by something else"));
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("nvidia-smi"));
  call.group.ledger = static_cast<std::int64_t>(14 * gib) - 5;
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("5 bytes are held by something else"));
  CHECK(all_text(call.why().advice).find("nvidia-smi") == std::string::npos);
}

TEST_CASE("others that hold the memory are named, with what this process's context costs") {
  auto call = FailedCall::allocation(4 * gib);
  call.group.driver = driver_figures(gib);
  call.group.ledger = static_cast<std::int64_t>(2 * gib);
  call.add_gpu(1024);
  call.add_user(0, 4242, 12 * 1024, "serve");
  call.add_user(0, 4000, 2560, "self");
  const auto why = call.why();
  CHECK_THAT(all_text(why.evidence),
             ContainsSubstring("process 4242 (`serve`, running for 40 minutes) holds 12.0 GiB"));
  CHECK_THAT(all_text(why.evidence),
             ContainsSubstring("this process takes 2.5 GiB of the device, 512.0 MiB of it for"));
  CHECK_THAT(all_text(why.advice), ContainsSubstring("Stop process 4242"));
}

TEST_CASE("what is parked in the pool is named, and that trimming would have been enough") {
  auto call = FailedCall::allocation(2 * gib);
  call.group.driver = driver_figures(gib);
  call.group.driver->pool_held = {3 * gib, gib};
  const auto why = call.why();
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("2.0 GiB are parked"));
  CHECK_THAT(all_text(why.advice), ContainsSubstring("would have freed enough"));
}

TEST_CASE("free memory in pieces: many blocks, and the largest gap between them") {
  auto call = FailedCall::allocation(7 * gib);
  call.group.driver = driver_figures(11 * gib);
  call.group.layout = {38, 4 * gib};
  const auto why = call.why();
  CHECK(why.id == "fragmented");
  CHECK_THAT(all_text(why.evidence),
             ContainsSubstring("38 blocks on the device, and the largest gap between two of them was 4.0 GiB"));
}

TEST_CASE("one block that is most of the device is an allocator's") {
  auto call = FailedCall::allocation(8 << 20);
  call.group.driver = driver_figures(1 << 20);
  call.group.held = {{{{0, "device"}, 1}, {1, static_cast<std::int64_t>(14 * gib)}}};
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("87 % of the device is one block of 14.0 GiB"));
}

TEST_CASE("page-locked memory is host memory, whatever the GPU has") {
  auto call = FailedCall::allocation(32 * gib);
  call.group.first.kind = "pinned";
  call.group.first.live = 64 * gib;
  call.add_gpu(8192);
  call.machine["system"]["host_memory"] = {{"available_bytes", gib}};
  const auto why = call.why();
  CHECK(why.id == "pinned_memory");
  CHECK_THAT(why.verdict, ContainsSubstring("not the GPU's"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("8.0 GiB free"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("1.0 GiB of RAM available"));
}

TEST_CASE("settings are named only of frameworks that are loaded, and only those that are not in force") {
  auto call = FailedCall::allocation(4 * gib);
  call.group.driver = driver_figures(gib);
  CHECK(all_text(call.why().advice).find("PyTorch") == std::string::npos);
  call.add_module("/env/torch/lib/libtorch_cuda.so");
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("expandable_segments"));
  CHECK(all_text(call.why().advice).find("TensorFlow") == std::string::npos);
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    call.process.process.env = {{name, "expandable_segments:True"}};
    CHECK(all_text(call.why().advice).find("expandable_segments") == std::string::npos);
  }
}

TEST_CASE("a free that the exiting driver refuses is harmless") {
  auto call = FailedCall::start(4);
  call.group.first.start = false;
  call.group.first.tried = "free";
  CHECK(call.why().id == "driver_gone");
  CHECK_THAT(call.why().verdict, ContainsSubstring("harmless"));
}

TEST_CASE("a request that fails again while nothing was freed is told so") {
  auto call = FailedCall::allocation(4 * gib);
  call.group.driver = driver_figures(gib);
  call.group.first.ns = 5'000'000'000;
  call.group.earlier = EarlierRequest{3'000'000'000, 8 * gib, 0};
  call.add_module("/usr/bin/python3.11");
  CHECK_THAT(all_text(call.why().evidence),
             ContainsSubstring("had failed 2000 ms before, and nothing of it was freed"));
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("outside the except block"));
  call.group.earlier->freed_since = 1;
  CHECK(all_text(call.why().evidence).find("had failed") == std::string::npos);
}

TEST_CASE("whom to stop: as few as are enough, none where all are not, never the system's or a scheduler's") {
  auto call = FailedCall::allocation(8 * gib);
  call.group.driver = driver_figures(gib);
  call.add_gpu(1024);
  call.add_user(0, 4242, 5 * 1024, "one");
  CHECK(all_text(call.why().advice).find("Stop") == std::string::npos);
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("Even without the other processes"));
  call.add_user(0, 4243, 4 * 1024, "two");
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("holds 5.0 GiB and process 4243"));
  call.machine["nvml"]["devices"][0]["processes"]["compute"][0]["pid"] = 1;
  CHECK(all_text(call.why().advice).find("Stop") == std::string::npos);
  call.add_gpu(15000);
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("CUDA_VISIBLE_DEVICES="));
  call.machine["nvml"]["devices"][1]["compute_mode"] = "exclusive_process";
  call.add_user(1, 4244, 100, "three");
  CHECK(all_text(call.why().advice).find("CUDA_VISIBLE_DEVICES=") == std::string::npos);
  call.machine["nvml"]["devices"][1]["compute_mode"] = "default";
  call.process.process.env["SLURM_JOB_ID"] = "7";
  CHECK(all_text(call.why().advice).find("CUDA_VISIBLE_DEVICES=") == std::string::npos);
}

TEST_CASE("managed memory may exceed what is free, so a shortage of the device is only possible") {
  auto call = FailedCall::allocation(8 * gib);
  call.group.first.kind = "managed";
  call.group.driver = driver_figures(5 * gib);
  CHECK(call.why().sureness == Certainty::open);
  CHECK(has_candidate(call.why(), "host_memory"));
}

TEST_CASE("a probe that told nothing is told of at a failed allocation as at a failed start") {
  auto call = FailedCall::allocation(gib);
  call.group.driver = driver_figures(5 << 20);
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("not looked at"));
  for (const auto& [status, reason] : {std::pair<std::string, std::string>{"not started", "ENOENT"},
                                       {"failed", "it ended with status 3"},
                                       {"timed out", ""}}) {
    call.group.probe = ProbeRecord{{2, 0}, status, reason, 1, ""};
    CHECK(call.why().id == "device_full");
    CHECK_THAT(all_text(call.why().evidence),
               ContainsSubstring("(probe: " + status + (reason.empty() ? "" : ", " + reason) + ")"));
  }
  call.machine = {{"nvml", {{"status", "timed out"}, {"in", "nvmlInit_v2"}}}};
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("NVML told nothing (timed out: nvmlInit_v2)"));
  call.group.first.bytes = 17 * gib;
  CHECK(call.why().id == "larger_than_device");
  CHECK(all_text(call.why().evidence).find("NVML") == std::string::npos);
}
