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

enum class certainty {
  proven,  // the evidence leaves no other cause
  likely,  // the evidence points at this cause
  open,    // the journal does not decide
};

struct candidate {
  std::string cause;
  std::string decided_by;
};

struct diagnosis {
  certainty sureness = certainty::open;
  std::string verdict;                // one sentence
  std::vector<std::string> evidence;  // clauses, each a fact from the journal
  std::string advice;                 // one sentence, may be empty
  std::vector<candidate> candidates;  // only when open
};

// What is known about the process beside the failure itself.
struct process_facts {
  const process_record& process;
  const modules& all_modules;
};

// A failed start: no context had ever been seen in the process.
diagnosis diagnose_start(const failure_group& group, const process_facts& facts);

// A failed allocation. `live` is what this process held of that total when it failed.
diagnosis diagnose_allocation(const failure_group& group);

// Any failure: chooses among the above, or says what the code means.
diagnosis diagnose(const failure_group& group, const process_facts& facts);

// The number that decides, in today's numbering: what the driver function returned if it failed, else what the call
// did.
std::int64_t deciding_code(const failure_record& failure, const modules& all_modules);

}  // namespace gpumem
