// A request fails although memory looks free, or because somebody has it.
#include <unistd.h>

#include "situations.hpp"

using namespace gpumem::test;

namespace {

Line device(std::uint64_t capacity_mib) { return {{"capacity", capacity_mib << 20}}; }

// A memory cgroup of its own with a limit, which goes away with its owner.
class MemoryGroup {
 public:
  explicit MemoryGroup(std::uint64_t limit) : folder_("/sys/fs/cgroup/memory/gpumem-test-" + std::to_string(getpid())) {
    std::error_code trouble;
    std::filesystem::create_directory(folder_, trouble);
    write_text(folder_ / "memory.limit_in_bytes", std::to_string(limit));
  }
  ~MemoryGroup() { rmdir(folder_.c_str()); }

  std::string missing() const {
    return std::filesystem::exists(folder_ / "memory.limit_in_bytes") ? "" : "no memory cgroup can be made here";
  }
  // The program in it, after `filled` has run in it.
  std::vector<std::string> argv(const std::string& filled, const std::vector<std::string>& words) const {
    std::vector<std::string> all{"sh", "-c", "echo $$ >" + (folder_ / "tasks").string() + "; " + filled + "; \"$@\"",
                                 "sh"};
    for (const auto& word : situation(words)) all.push_back(word);
    return all;
  }

 private:
  std::filesystem::path folder_;
};

constexpr std::uint64_t group_limit = 1ull << 30;

}  // namespace

TEST_CASE("situations: a container at its memory limit starts no CUDA") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  const MemoryGroup group(group_limit);
  if (!group.missing().empty()) return skipped(group.missing());
  if (std::filesystem::space("/dev/shm").available < group_limit) return skipped("/dev/shm is too small");
  Stage stage;
  stage.script(failing_start(2));
  // Memory of files in a memory file system is not given up.
  const auto failure = failure_of_child(
      stage, group.argv("dd if=/dev/zero of=/dev/shm/gpumem-test bs=1M count=980 2>/dev/null", {"start"}));
  std::filesystem::remove("/dev/shm/gpumem-test");
  check_cause(failure, "host_memory", "likely", {"of its limit of 1.0 GiB"});
  CHECK(is_ruled_out(failure, "memory_held"));
}

TEST_CASE("situations: a container whose limit is reached by cached files alone is not short of memory") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  const MemoryGroup group(group_limit);
  if (!group.missing().empty()) return skipped(group.missing());
  Stage stage;
  stage.script(failing_start(2));
  const auto failure =
      failure_of_child(stage, group.argv("dd if=/dev/zero of=cached bs=1M count=1500 2>/dev/null", {"start"}));
  check_open(failure, {"driver_mismatch"});
  CHECK(is_ruled_out(failure, "host_memory"));
}

TEST_CASE("situations: the free memory is in pieces") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line cut = device(11264 + 400);
  cut["contiguous"] = true;
  stage.script({{"devices", {cut}}});
  std::vector<std::string> words{"start", "retain"};
  for (int i = 0; i < 22; ++i) words.push_back("alloc=512");
  words.insert(words.end(), {"free_every_second", "alloc=4096"});
  const auto failure = first_failure(stage, situation(words));
  CHECK(failure.at("bytes") == 4096ull << 20);
  check_cause(failure, "fragmented", "likely",
              {"4.0 GiB asked", "5.5 GiB free", "11 blocks", "the largest gap between two of them was 512.0 MiB"});
}

TEST_CASE("situations: another process takes nearly all after this one has started") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {device(16384), device(8192)}}});
  const auto [holder, failure] =
      first_failure_beside(stage, {"start", "retain", "alloc=12000"}, situation({"start", "retain", "alloc=4000"}));
  check_cause(failure, "device_full", "proven",
              {"3.9 GiB asked", "3.5 GiB free", "process " + std::to_string(holder), "holds 12.1 GiB",
               "CUDA_VISIBLE_DEVICES=1"});
}

TEST_CASE("situations: what a process has and has not asked for itself is told apart") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {device(2048)}}});
  const auto failure = first_failure(stage, situation({"start", "retain", "alloc=1", "create", "alloc=1300"}));
  check_cause(failure, "device_full", "proven",
              {"1.2 GiB free of 2.0 GiB", "this process takes 801.0 MiB", "800.0 MiB of it for contexts and code"});
}

TEST_CASE("situations: one allocator has taken nearly all of the device, and another library needs little") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto failure = first_failure(stage, situation({"start", "retain", "alloc=15970", "alloc=64"}));
  check_cause(failure, "device_full", "proven",
              {"64.0 MiB asked", "14.0 MiB free", "97 % of the device is one block of 15.6 GiB"});
}

TEST_CASE("situations: a request that no device of this size can meet") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  check_cause(first_failure(stage, situation({"start", "retain", "alloc=17000"})), "larger_than_device", "proven",
              {"16.6 GiB asked", "16.0 GiB"});
}

TEST_CASE("situations: page-locked host memory runs out, and the device is half empty") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"pinned_limit", 4096ull << 20}});
  const auto failure =
      first_failure(stage, situation({"start", "retain", "alloc=8000", "pinned=2048", "pinned=2048", "pinned=32"}));
  CHECK(failure.at("api") == "cuMemHostAlloc");
  CHECK(failure.at("bytes") == 32ull << 20);
  check_cause(failure, "pinned_memory", "likely", {"this process held 4.0 GiB", "7.8 GiB free of 16.0 GiB"});
  REQUIRE(failure.at("held_then").size() == 1);
  CHECK(failure.at("held_then")[0].at("blocks") == 2);
}

TEST_CASE("situations: enough is free, one block is there, and yet the driver refuses") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"rules", {rule("cuMemAlloc_v2", 2, 2)}}});
  const auto failure = first_failure(stage, situation({"start", "retain", "alloc=100", "alloc=200"}));
  check_open(failure, {"fragmented", "process_limit"});
}

TEST_CASE("situations: the list of visible devices is changed when the driver has read it") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage, {{"devices", {device(8192), device(8192)}}});
  const auto [holder, failure] = first_failure_beside(stage, {"start", "retain", "alloc=7700"},
                                                      situation({"start", "set=CUDA_VISIBLE_DEVICES=1", "retain"}));
  CHECK(failure.at("device") == 0);
  check_cause(failure, "memory_held", "proven",
              {"0000:01:00.0", "process " + std::to_string(holder), "had become \"1\"",
               "only after cuInit had succeeded, which reads it"});
}

TEST_CASE("situations: a killed process's forked children keep its memory, and nobody is listed") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  share(stage);
  const auto [holder, failure] =
      first_failure_beside(stage, {"start", "retain", "alloc=15850", "fork=1", "current", "regardless"},
                           situation({"start", "retain"}), Holder::has_only_children);
  check_cause(failure, "memory_held", "proven",
              {"used with no process listed", "process " + std::to_string(holder) + " (`situation start",
               "was killed while it held 15.5 GiB", "children"});
}
