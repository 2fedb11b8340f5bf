#include "analyze/diagnosis.hpp"
#include "analyze/error_codes.hpp"
#include "analyze/sizes.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::uint64_t old_numbering_ends = 10010;  // CUDA 10.1

bool returned_out_of_memory(const FailureRecord& failure) { return failure.in_code.value_or(failure.code) == 2; }

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
  const std::string asked = bytes_text(failure.bytes);
  if (failure.live) {
    result.evidence.push_back("this process held " + bytes_text(*failure.live) + " of this kind at that moment");
  }
  if (failure.kind == schema::kind::pinned) {
    result.sureness = Certainty::likely;
    result.verdict = "Page-locked host memory ran out, not the GPU's.";
    result.advice = "Look at RAM, the container's memory limit and RLIMIT_MEMLOCK.";
    return result;
  }
  if (!group.driver) {
    result.verdict =
        "The driver could not provide " + asked + "; the journal holds no figure of free memory at that moment.";
    return result;
  }
  result.evidence.push_back("the driver reported " + bytes_text(group.driver->free) + " free of " +
                            bytes_text(group.driver->total) + " just after");
  if (group.driver->free < failure.bytes) {
    result.sureness = Certainty::proven;
    result.verdict = "The request does not fit: " + asked + " asked, " + bytes_text(group.driver->free) + " free, " +
                     bytes_text(failure.bytes - group.driver->free) + " missing.";
    result.advice = "`gpumem peak` shows which call sites hold the memory.";
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
  if (failure.tried == schema::op::alloc && returned_out_of_memory(failure)) return diagnose_allocation(group);
  const std::int64_t code = deciding_code(failure, facts.all_modules);
  Diagnosis result;
  if (failure.tried == schema::op::free && code == code_shutting_down) {
    result.sureness = Certainty::proven;
    result.verdict = "The driver was already shutting down: harmless for the memory, which ends with the process.";
    result.advice = "To get rid of the error, destroy the owning objects before main returns.";
    return result;
  }
  const auto* meaning = find_code(code);
  result.verdict = meaning ? "Meaning of " + std::to_string(code) + ": " + std::string(meaning->meaning) + "."
                           : "The code " + std::to_string(code) + " is not in this version's table.";
  if (failure.tried == schema::op::free) result.evidence.push_back("the block stays live");
  return result;
}

}  // namespace gpumem
