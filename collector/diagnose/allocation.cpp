#include "diagnose/allocation.hpp"

#include <algorithm>

#include "analyze/kinds.hpp"
#include "analyze/sizes.hpp"
#include "diagnose/advice.hpp"
#include "diagnose/frameworks.hpp"
#include "diagnose/memory_facts.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// What the driver hands memory out in; a request takes whole ones.
constexpr std::uint64_t granule = 2ull << 20;

// One request and the device's memory when it failed.
class Shortage {
 public:
  explicit Shortage(const Scene& scene)
      : scene_(scene), group_(scene.group()), failure_(scene.failure()), memory_(scene) {}

  Diagnosis judge() {
    tell_own_memory();
    if (is_host_memory()) return judge_host_memory();
    if (counts_of(failure_.kind) == Counts::addresses) return judge_addresses();
    for (auto& evidence : memory_.tell()) tell(std::move(evidence));
    const std::uint64_t total = memory_.total();
    const auto free = memory_.free();
    // Managed memory may exceed the device.
    if (total > 0 && failure_.bytes > total && failure_.kind != "managed") return judge_impossible(total);
    if (failure_.bytes == 0) return judge_unsized();
    if (!free) return judge_blindly();
    if (failure_.kind == "managed") return judge_managed();
    return *free < failure_.bytes ? judge_missing(*free) : judge_enough(*free);
  }

 private:
  std::string asked() const { return quantity_text(failure_.kind, is_object(failure_.kind) ? 1 : failure_.bytes); }

  bool is_host_memory() const { return counts_of(failure_.kind) == Counts::host_memory; }

  void tell(Evidence evidence) { result_.evidence.push_back(std::move(evidence)); }
  void advise(std::string sentence) { result_.advice.push_back(std::move(sentence)); }

  void tell_own_memory() {
    if (!failure_.live) return;
    tell(scene_.from_failure("this process held " + quantity_text(failure_.kind, *failure_.live) +
                             " of this kind at that moment"));
  }

  Diagnosis judge_host_memory() {
    result_.id = "pinned_memory";
    result_.sureness = Certainty::likely;
    result_.verdict = "Page-locked host memory ran out, not the GPU's.";
    if (const Gpu* gpu = scene_.gpu(); gpu && gpu->free && gpu->total) {
      tell(scene_.from_gpu(
          scene_.name_of(*gpu) + " had " + bytes_text(*gpu->free) + " free of " + bytes_text(*gpu->total), *gpu,
          "memory"));
    }
    const Machine* machine = scene_.machine();
    if (machine && machine->host_available) {
      tell(scene_.from_probe("the machine had " + bytes_text(*machine->host_available) + " of RAM available",
                             "system.host_memory.available_bytes"));
    }
    for (const auto& group : machine ? machine->groups : std::vector<MemoryGroup>()) {
      const bool is_real = group.limit && group.used && (!machine->host_total || *group.limit < *machine->host_total);
      if (is_real)
        tell(scene_.from_probe("the memory cgroup " + group.folder + " uses " + bytes_text(*group.used) +
                                   " of its limit of " + bytes_text(*group.limit),
                               "system.cgroup_memory.levels"));
    }
    if (const auto& state = group_.state; state && state->limits.locked_memory) {
      tell(scene_.from_state("RLIMIT_MEMLOCK is " + bytes_text(*state->limits.locked_memory), "limits.memlock"));
    }
    advise("Look at RAM, the container's memory limit and RLIMIT_MEMLOCK, and at who page-locks how much (below).");
    return std::move(result_);
  }

  Diagnosis judge_addresses() {
    result_.verdict = "The driver could not provide addresses; these take no memory of the device.";
    candidate("no_large_range", "no free range of addresses is large enough",
              "the live address ranges, and the size that was asked for");
    candidate("process_limit", "a limit of the process (address space, container)",
              "ulimit -v and the cgroup's memory.max", limits());
    return std::move(result_);
  }

  // May exceed what is free, even what the device has.
  Diagnosis judge_managed() {
    result_.verdict = "The driver could not provide " + asked() + " of managed memory, which may exceed the device's.";
    candidate("host_memory", "host memory or a container's memory limit is exhausted",
              "the cgroup's memory.events and the kernel log");
    candidate("process_limit", "a limit of the process (address space, container)",
              "ulimit -v and the cgroup's memory.max", limits());
    candidate("device_full", "the device does not page, so that managed memory must fit",
              "its compute capability (paging needs 6.0 and Linux)");
    return std::move(result_);
  }

  Diagnosis judge_impossible(std::uint64_t total) {
    result_.id = "larger_than_device";
    result_.sureness = Certainty::proven;
    result_.verdict =
        "The request can never fit: " + asked() + " asked, the whole device has " + bytes_text(total) + ".";
    advise("Look at how the size is computed: freeing other memory cannot help.");
    return std::move(result_);
  }

  Diagnosis judge_unsized() {
    result_.verdict = "The driver could not make it; how much memory that takes only the driver knows.";
    if (const auto free = memory_.free(); free && *free < small_) {
      result_.id = "device_full";
      result_.sureness = Certainty::likely;
      result_.verdict =
          "The device is full: " + bytes_text(*free) + " free. How much the driver wanted, only the driver knows.";
      advise_about_memory();
    }
    return std::move(result_);
  }

  Diagnosis judge_blindly() {
    result_.verdict = "The driver could not provide " + asked() + "; there is no figure of free memory at that moment.";
    return std::move(result_);
  }

  Diagnosis judge_missing(std::uint64_t free) {
    result_.id = "device_full";
    result_.sureness = Certainty::proven;
    result_.verdict = "The request does not fit: " + asked() + " asked, " + bytes_text(free) + " free, " +
                      bytes_text(failure_.bytes - free) + " missing.";
    const std::uint64_t fits = free / granule * granule;
    tell(scene_.from_driver(fits > 0 ? "at most " + bytes_text(fits) + " would have fitted, if they were in one piece"
                                     : "not even the smallest request would have fitted"));
    tell_earlier_request();
    advise_about_memory();
    return std::move(result_);
  }

  // A program that gives up its work, but not what the work holds.
  void tell_earlier_request() {
    const auto& earlier = group_.earlier;
    if (!earlier || earlier->freed_since > 0) return;
    tell(scene_.from_failure("a request for " + bytes_text(earlier->bytes) + " of this kind had failed " +
                             std::to_string((failure_.ns - earlier->ns) / 1'000'000) +
                             " ms before, and nothing of it was freed in between"));
    if (scene_.module_named("python"))
      advise(
          "In Python, retry outside the except block: the exception keeps the frames that failed, and what they "
          "hold, alive.");
  }

  // Whom to stop, what to give back, which settings there are.
  void advise_about_memory() {
    const Gpu* gpu = scene_.gpu();
    std::uint64_t by_others = 0;
    for (const auto& other : memory_.others()) by_others += other.bytes.value_or(0);
    if (gpu && matters(by_others)) {
      for (auto& text : advice_for_full_gpu(scene_, *gpu, memory_.others(), failure_.bytes)) advise(std::move(text));
    } else if (!gpu && matters(memory_.rest())) {
      advise("nvidia-smi shows who else holds memory of this device.");
    }
    const std::uint64_t free = memory_.free().value_or(0);
    if (memory_.parked() > 0 && memory_.parked() + free >= failure_.bytes)
      advise("cudaMemPoolTrimTo on the default pool would have freed enough.");
    if (!group_.held.empty()) advise("Look at what this process held then (below).");
    advise_settings(MemoryTrouble::device_full);
  }

  bool matters(std::uint64_t bytes) const {
    return bytes > large_ || (memory_.total() > 0 && bytes > memory_.total() / 10);
  }

  void advise_settings(MemoryTrouble trouble) {
    Variables env = scene_.process().process.env;
    for (const auto& [name, value] : failure_.env_now) {
      if (value) env[name] = *value;
    }
    for (auto& text : advice_for_process(scene_.process().all_modules, env, trouble)) advise(std::move(text));
  }

  Diagnosis judge_enough(std::uint64_t free) {
    result_.verdict = "Enough memory was free in all, and yet the driver could not provide " + asked() + ".";
    std::vector<Evidence> pieces;
    if (group_.layout.blocks > 1) {
      pieces.push_back(scene_.from_failure(
          "this process had " + count_of(group_.layout.blocks, "block") + " on the device" +
          (group_.layout.largest_gap > 0
               ? ", and the largest gap between two of them was " + bytes_text(group_.layout.largest_gap)
               : "")));
    }
    const auto limiting = limits();
    const bool is_cut_up = group_.layout.blocks >= many_blocks_ && limiting.empty();
    if (is_cut_up) {
      result_.id = "fragmented";
      result_.sureness = Certainty::likely;
      result_.verdict = "The free memory is in pieces: " + asked() + " asked, " + bytes_text(free) +
                        " free in all, but not in one piece.";
      for (auto& piece : pieces) tell(std::move(piece));
      advise("Allocate the large blocks first, or fewer and larger ones that are used again.");
      advise_settings(MemoryTrouble::fragmented);
      return std::move(result_);
    }
    candidate("fragmented", "the free memory is in pieces, none of them large enough",
              "the sizes of the live blocks: few large or many small", std::move(pieces));
    candidate("process_limit", "a limit of the process (address space, container)",
              "ulimit -v and the cgroup's memory.max", limiting);
    if (const auto mps = scene_.variable("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT")) {
      candidate("mps_limit", "MPS limits what this client may take", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
                {scene_.from_variable("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT is \"" + *mps + "\"",
                                      "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT")});
    }
    return std::move(result_);
  }

  std::vector<Evidence> limits() const {
    std::vector<Evidence> found;
    if (const auto as = scene_.address_space_limit())
      found.push_back(scene_.from_state("RLIMIT_AS is " + bytes_text(*as), "limits.as"));
    for (const auto& group : scene_.machine() ? scene_.machine()->groups : std::vector<MemoryGroup>()) {
      if (group.is_at_limit())
        found.push_back(
            scene_.from_probe("the memory cgroup " + group.folder + " is at its limit of " + bytes_text(*group.limit),
                              "system.cgroup_memory.levels"));
    }
    return found;
  }

  void candidate(const char* id, const char* cause, const char* decided_by, std::vector<Evidence> evidence = {}) {
    result_.candidates.push_back({id, cause, decided_by, std::move(evidence), {}});
  }

  static constexpr std::uint64_t large_ = 1ull << 30;   // worth a look at who else holds it
  static constexpr std::uint64_t small_ = 64ull << 20;  // not even a handle finds room
  static constexpr std::uint64_t many_blocks_ = 8;

  const Scene& scene_;
  const FailureGroup& group_;
  const FailureRecord& failure_;
  const MemoryFacts memory_;
  Diagnosis result_;
};

}  // namespace

Diagnosis diagnose_allocation(const Scene& scene) { return Shortage(scene).judge(); }

}  // namespace gpumem
