// Why a call failed: the cause and its evidence, or the causes that remain and what would decide between them.
//
// Never names a cause without evidence, and never calls a GPU full without a figure of the driver that shows it.
#pragma once

#include <string>
#include <vector>

#include "analyze/failure_groups.hpp"
#include "analyze/runtimes.hpp"
#include "analyze/usage.hpp"
#include "model/records.hpp"

namespace gpumem {

enum class Certainty {
  proven,  // the evidence leaves no other cause
  likely,  // the evidence points at this cause
  open,    // the journal does not decide
};

struct Candidate {
  std::string cause;
  std::string decided_by;
};

struct Diagnosis {
  Certainty sureness = Certainty::open;
  std::string verdict;                // one sentence
  std::vector<std::string> evidence;  // clauses, each a fact from the journal
  std::string advice;                 // one sentence, may be empty
  std::vector<Candidate> candidates;  // only when open
};

// What is known about the process beside the failure itself.
struct ProcessFacts {
  const ProcessRecord& process;
  const Modules& all_modules;
};

// A failed start: no context had ever been seen in the process.
Diagnosis diagnose_start(const FailureGroup& group, const ProcessFacts& facts);

// A failed allocation, or another call that could not get the memory that it needs. `live` is what this process held of
// that total when it failed.
Diagnosis diagnose_allocation(const FailureGroup& group);

// Any failure: chooses among the above, or says what the code means.
Diagnosis diagnose(const FailureGroup& group, const ProcessFacts& facts);

// The number that decides, in today's numbering: what the driver function returned if it failed, else what the call
// did.
std::int64_t deciding_code(const FailureRecord& failure, const Modules& all_modules);

}  // namespace gpumem
