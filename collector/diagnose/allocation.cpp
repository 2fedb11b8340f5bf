#include "diagnose/allocation.hpp"

#include <algorithm>

#include "analyze/kinds.hpp"
#include "analyze/sizes.hpp"
#include "diagnose/advice.hpp"
#include "diagnose/frameworks.hpp"
#include "diagnose/holders.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// What the driver hands memory out in; a request takes whole ones.
constexpr std::uint64_t granule = 2ull << 20;

// One request and the device's memory when it failed.
class Shortage {
 public:
  explicit Shortage(const Scene& scene) : scene_(scene), group_(scene.group()), failure_(scene.failure()) {}

  Diagnosis judge() {
    tell_own_memory();
    if (is_host_memory()) return judge_host_memory();
    if (counts_of(failure_.kind) == Counts::addresses) return judge_addresses();
    tell_device_memory();
    const std::uint64_t total = total_of_device();
    // Managed memory may exceed the device.
    if (total > 0 && failure_.bytes > total && failure_.kind != "managed") return judge_impossible(total);
    if (failure_.bytes == 0) return judge_unsized();
    if (!free()) return judge_blindly();
    return *free() < failure_.bytes ? judge_missing() : judge_enough();
  }

 private:
  std::optional<std::uint64_t> free() const {
    if (group_.driver) return group_.driver->free;
    const Gpu* gpu = scene_.gpu();
    return gpu && scene_.machine_age_ns() == 0 ? gpu->free : std::nullopt;
  }

  std::uint64_t total_of_device() const {
    if (group_.driver) return *group_.driver->total;
    if (group_.device_total) return *group_.device_total;
    return scene_.gpu() ? scene_.gpu()->total.value_or(0) : 0;
  }

  std::string asked() const { return quantity_text(failure_.kind, is_object(failure_.kind) ? 1 : failure_.bytes); }

  bool is_host_memory() const { return counts_of(failure_.kind) == Counts::host_memory; }

  void tell(Evidence evidence) { result_.evidence.push_back(std::move(evidence)); }
  void advise(std::string sentence) { result_.advice.push_back(std::move(sentence)); }

  void tell_own_memory() {
    if (!failure_.live) return;
    tell(scene_.from_failure("this process held " + quantity_text(failure_.kind, *failure_.live) +
                             " of this kind at that moment"));
  }

  void tell_device_memory() {
    if (group_.driver) {
      tell(scene_.from_driver("the driver reported " + bytes_text(*group_.driver->free) + " free of " +
                              bytes_text(*group_.driver->total) + " just after"));
      const auto used = static_cast<std::int64_t>(*group_.driver->total - *group_.driver->free);
      rest_ = std::max<std::int64_t>(0, used - group_.ledger);
    }
    tell_rest();
    if (failure_.kind != "async" && parked() > 0) {
      tell(scene_.from_driver(bytes_text(parked()) +
                              " are parked in the device's stream-ordered pool, which cudaMemPoolTrimTo gives back"));
    }
    for (const auto& site : group_.held) {
      const std::uint64_t total = total_of_device();
      const bool is_dominant =
          total > 0 && site.amount.blocks == 1 && static_cast<std::uint64_t>(site.amount.bytes) > total / 2;
      if (is_dominant) {
        tell(scene_.from_failure(percent_of(site.amount.bytes, total) + " of the device is one block of " +
                                 bytes_text(static_cast<std::uint64_t>(site.amount.bytes)) +
                                 " of this process (below): an allocator's, whose unused part the driver cannot know"));
      }
    }
  }

  static std::string percent_of(std::int64_t part, std::uint64_t whole) {
    return std::to_string(100 * static_cast<std::uint64_t>(part) / whole) + " %";
  }

  // What is used and not this process's allocations: contexts and code, and other processes.
  void tell_rest() {
    const Gpu* gpu = scene_.gpu();
    std::uint64_t named = 0;
    if (gpu && scene_.machine()) {
      for (const auto& holder : holders_of(scene_, *gpu)) {
        if (holder.is_self) {
          tell_overhead(holder);
          continue;
        }
        others_.push_back(holder);
        named += holder.bytes.value_or(0);
        if (others_.size() <= most_named_)
          tell(scene_.from_probe(holder.text(), "nvml.devices[" + std::to_string(gpu->index) + "].processes"));
      }
      if (others_.size() > most_named_)
        tell(scene_.from_probe(std::to_string(others_.size() - most_named_) + " more processes use the device",
                               "nvml.devices[" + std::to_string(gpu->index) + "].processes"));
    }
    if (rest_ <= 0) return;
    if (!others_.empty() && named + small_ >= static_cast<std::uint64_t>(rest_)) return;
    const std::uint64_t left = static_cast<std::uint64_t>(rest_) - std::min<std::uint64_t>(named, rest_);
    tell(scene_.from_driver(bytes_text(left) + (gpu && gpu->users_known && others_.empty()
                                                    ? " are held by contexts, loaded code and the driver; no other "
                                                      "process is listed"
                                                    : " are held by something else: other processes, contexts, "
                                                      "loaded code")));
    if (gpu && scene_.machine() && left > large_) {
      for (auto& suspect : unlisted_suspects(scene_, *gpu)) tell(std::move(suspect));
      for (auto& blind : blind_spots(scene_, *gpu)) tell(std::move(blind));
    }
  }

  void tell_overhead(const Holder& self) {
    if (!self.bytes || group_.ledger < 0 || *self.bytes <= static_cast<std::uint64_t>(group_.ledger)) return;
    tell(scene_.from_probe("this process takes " + bytes_text(*self.bytes) + " of the device, " +
                               bytes_text(*self.bytes - static_cast<std::uint64_t>(group_.ledger)) +
                               " of it for contexts and code",
                           "nvml.devices"));
  }

  std::uint64_t parked() const {
    if (!group_.driver) return 0;
    const auto& pool = group_.driver->pool_held;
    return pool.reserved && pool.used && *pool.reserved > *pool.used ? *pool.reserved - *pool.used : 0;
  }

  Diagnosis judge_host_memory() {
    result_.id = "pinned_memory";
    result_.sureness = Certainty::likely;
    result_.verdict = "Page-locked host memory ran out, not the GPU's.";
    if (const Gpu* gpu = scene_.gpu(); gpu && gpu->free && gpu->total) {
      tell(scene_.from_probe(
          scene_.name_of(*gpu) + " had " + bytes_text(*gpu->free) + " free of " + bytes_text(*gpu->total),
          "nvml.devices[" + std::to_string(gpu->index) + "].memory"));
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
    if (free() && *free() < small_) {
      result_.id = "device_full";
      result_.sureness = Certainty::likely;
      result_.verdict =
          "The device is full: " + bytes_text(*free()) + " free. How much the driver wanted, only the driver knows.";
      advise_about_memory();
    }
    return std::move(result_);
  }

  Diagnosis judge_blindly() {
    result_.verdict = "The driver could not provide " + asked() + "; there is no figure of free memory at that moment.";
    return std::move(result_);
  }

  Diagnosis judge_missing() {
    result_.id = "device_full";
    result_.sureness = Certainty::proven;
    result_.verdict = "The request does not fit: " + asked() + " asked, " + bytes_text(*free()) + " free, " +
                      bytes_text(failure_.bytes - *free()) + " missing.";
    const std::uint64_t fits = *free() / granule * granule;
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
    for (const auto& other : others_) by_others += other.bytes.value_or(0);
    const std::uint64_t total = total_of_device();
    const bool others_matter = by_others > large_ || (total > 0 && by_others > total / 10);
    const bool rest_matters =
        rest_ > static_cast<std::int64_t>(large_) || (total > 0 && rest_ > static_cast<std::int64_t>(total / 10));
    if (gpu && others_matter) {
      for (auto& text : advice_for_full_gpu(scene_, *gpu, others_, failure_.bytes)) advise(std::move(text));
    } else if (!gpu && rest_matters) {
      advise("nvidia-smi shows who else holds memory of this device.");
    }
    if (parked() >= failure_.bytes - std::min(failure_.bytes, free().value_or(0)) && parked() > 0 &&
        failure_.kind != "async") {
      advise("cudaMemPoolTrimTo on the default pool would have freed enough.");
    }
    if (!group_.held.empty()) advise("Look at what this process held then (below).");
    advise_settings(MemoryTrouble::device_full);
  }

  void advise_settings(MemoryTrouble trouble) {
    Variables env = scene_.process().process.env;
    for (const auto& [name, value] : failure_.env_now) {
      if (value) env[name] = *value;
    }
    for (auto& text : advice_for_process(scene_.process().all_modules, env, trouble)) advise(std::move(text));
  }

  Diagnosis judge_enough() {
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
      result_.verdict = "The free memory is in pieces: " + asked() + " asked, " + bytes_text(*free()) +
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
    const auto as = group_.state ? group_.state->limits.address_space : scene_.process().process.limit_as;
    if (as) found.push_back(scene_.from_state("RLIMIT_AS is " + bytes_text(*as), "limits.as"));
    for (const auto& group : scene_.machine() ? scene_.machine()->groups : std::vector<MemoryGroup>()) {
      if (group.limit && group.used && *group.used >= *group.limit - *group.limit / 20)
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
  static constexpr std::uint64_t small_ = 64ull << 20;  // not worth telling
  static constexpr std::uint64_t many_blocks_ = 8;
  static constexpr std::size_t most_named_ = 5;

  const Scene& scene_;
  const FailureGroup& group_;
  const FailureRecord& failure_;
  Diagnosis result_;
  std::vector<Holder> others_;
  std::int64_t rest_ = 0;
};

}  // namespace

Diagnosis diagnose_allocation(const Scene& scene) { return Shortage(scene).judge(); }

}  // namespace gpumem
