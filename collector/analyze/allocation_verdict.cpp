#include <algorithm>

#include "analyze/diagnosis.hpp"
#include "analyze/error_codes.hpp"
#include "analyze/kinds.hpp"
#include "analyze/sizes.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::uint64_t old_numbering_ends = 10010;  // CUDA 10.1

// What nobody in this process holds and is yet not free: worth a look from this much on.
constexpr std::uint64_t large_rest = 1ull << 30;

std::uint64_t held_by_others(const FailureGroup& group) {
  if (!group.driver || *group.driver->free > *group.driver->total) return 0;
  const auto rest = static_cast<std::int64_t>(*group.driver->total - *group.driver->free) - group.ledger;
  return rest > 0 ? static_cast<std::uint64_t>(rest) : 0;
}

// What the device's pool could give back to others at once.
std::uint64_t parked_in_pool(const FailureGroup& group) {
  if (!group.driver) return 0;
  const auto& pool = group.driver->pool_held;
  return pool.reserved && pool.used && *pool.reserved > *pool.used ? *pool.reserved - *pool.used : 0;
}

// A request that takes no memory of the device, as far as its kind tells.
bool is_answered_elsewhere(const FailureRecord& failure, Diagnosis& result) {
  const auto counts = counts_of(failure.kind);
  if (counts == Counts::host_memory) {
    result.sureness = Certainty::likely;
    result.verdict = "Page-locked host memory ran out, not the GPU's.";
    result.advice = "Look at RAM, the container's memory limit and RLIMIT_MEMLOCK.";
  } else if (counts == Counts::addresses) {
    result.verdict = "The driver could not provide addresses; these take no memory of the device.";
    result.candidates = {
        {"no free range of addresses is large enough", "the live address ranges, and the size that was asked for"},
        {"a limit of the process (address space, container)", "ulimit -v and the cgroup's memory.max"},
    };
  }
  return !result.verdict.empty();
}

}  // namespace

std::int64_t deciding_code(const FailureRecord& failure, const Modules& all_modules) {
  if (failure.in_code && *failure.in_code != 0) return *failure.in_code;
  if (!failure.api.starts_with("cuda")) return failure.code;
  for (const auto& runtime : find_runtimes(all_modules)) {
    if (runtime.version && *runtime.version < old_numbering_ends) {
      return modern_code_of_old_runtime(failure.code).value_or(failure.code);
    }
  }
  return failure.code;
}

Diagnosis diagnose_allocation(const FailureGroup& group) {
  const FailureRecord& failure = group.first;
  Diagnosis result;
  const std::string asked = quantity_text(failure.kind, is_object(failure.kind) ? 1 : failure.bytes);
  if (failure.live) {
    result.evidence.push_back("this process held " + quantity_text(failure.kind, *failure.live) +
                              " of this kind at that moment");
  }
  if (is_answered_elsewhere(failure, result)) return result;
  if (group.driver) {
    result.evidence.push_back("the driver reported " + bytes_text(*group.driver->free) + " free of " +
                              bytes_text(*group.driver->total) + " just after");
  }
  const std::uint64_t others = held_by_others(group);
  if (others > 0) {
    result.evidence.push_back(bytes_text(others) +
                              " are held by something else: other processes, contexts, loaded code");
  }
  const std::uint64_t parked = failure.kind == "async" ? 0 : parked_in_pool(group);
  if (parked > 0) {
    result.evidence.push_back(bytes_text(parked) +
                              " are parked in the device's stream-ordered pool, which cudaMemPoolTrimTo gives back");
  }
  const std::uint64_t total = group.driver ? *group.driver->total : group.device_total.value_or(0);
  // Managed memory may exceed the device.
  if (total > 0 && failure.bytes > total && failure.kind != "managed") {
    result.sureness = Certainty::proven;
    result.verdict = "The request can never fit: " + asked + " asked, the whole device has " + bytes_text(total) + ".";
    result.advice = "Look at how the size is computed: freeing other memory cannot help.";
    return result;
  }
  if (failure.bytes == 0) {
    result.verdict = "The driver could not make it; how much memory that takes only the driver knows.";
    return result;
  }
  if (!group.driver) {
    result.verdict =
        "The driver could not provide " + asked + "; the journal holds no figure of free memory at that moment.";
    return result;
  }
  if (*group.driver->free < failure.bytes) {
    result.sureness = Certainty::proven;
    result.verdict = "The request does not fit: " + asked + " asked, " + bytes_text(*group.driver->free) + " free, " +
                     bytes_text(failure.bytes - *group.driver->free) + " missing.";
    const bool look_elsewhere = others > large_rest || others > total / 10;
    const bool holds_some = !group.held.empty();
    if (look_elsewhere) result.advice = "nvidia-smi shows who else holds memory of this device.";
    if (holds_some)
      result.advice += std::string(look_elsewhere ? " " : "") + "Look at what this process held then (below).";
    return result;
  }
  result.verdict = "Enough memory was free in all, and yet the driver could not provide " + asked + ".";
  result.candidates = {
      {"the free memory is in pieces, none of them large enough",
       "the sizes of the live blocks: few large or many small"},
      {"a limit of the process (address space, container)", "ulimit -v and the cgroup's memory.max"},
  };
  return result;
}

Diagnosis diagnose(const FailureGroup& group, const ProcessFacts& facts) {
  const FailureRecord& failure = group.first;
  if (failure.start) return diagnose_start(group, facts);
  const bool needs_memory =
      failure.tried == schema::op::alloc || failure.tried == schema::op::launch || failure.tried == schema::op::other;
  if (needs_memory && returned_out_of_memory(failure)) return diagnose_allocation(group);
  const std::int64_t code = deciding_code(failure, facts.all_modules);
  Diagnosis result;
  if (failure.tried == schema::op::free && code == code_shutting_down) {
    result.sureness = Certainty::proven;
    result.verdict = "The driver was already shutting down: harmless for the memory, which ends with the process.";
    result.advice = "To get rid of the error, destroy the owning objects before main returns.";
    return result;
  }
  const auto* meaning = find_code(code);
  result.verdict = meaning ? "Code " + std::to_string(code) + " means: " + std::string(meaning->meaning) + "."
                           : "The code " + std::to_string(code) + " is not in this version's table.";
  if (group.pointer && group.pointer->live && !group.pointer->live->is_right_function) {
    const auto& kind = *find_kind(group.pointer->live->total.kind);
    result.sureness = Certainty::likely;
    result.verdict =
        "What it was given (" + std::string(kind.text) + ") must be given back by " + given_back_text(kind.kind) + ".";
  }
  return result;
}

}  // namespace gpumem
