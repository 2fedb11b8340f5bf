// Why a call failed: the cause and its evidence, or the causes that remain and what would decide between them.
//
// Never names a cause without evidence, and never calls a GPU full without a figure that shows it. Each piece of
// evidence names the line of the journal that it was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.hpp"
#include "model/line_lookup.hpp"

namespace gpumem {

class Neighbourhood;
struct Neighbour;

enum class Certainty {
  proven,  // the evidence leaves no other cause
  likely,  // the evidence points at this cause
  open,    // what is known does not decide
};

// A fact, as a clause without full stop.
struct Evidence {
  std::string text;
  std::optional<LineOfJournal> line;  // none: it is not from this process's journal
  std::string where;                  // the value in that line, "nvml.devices[0].memory", or the file that it is from
  const Neighbour* called_in = nullptr;  // the clause ends with where this process called cuInit
};

// A cause that what is known does not decide about.
struct Candidate {
  std::string id;
  std::string cause;
  std::string decided_by;
  std::vector<Evidence> evidence;  // for it
  std::vector<Evidence> against;
};

struct RuledOut {
  std::string id;
  std::string cause;
  std::vector<Evidence> against;  // never empty
};

struct Diagnosis {
  Certainty sureness = Certainty::open;
  std::string id;       // of the cause; empty where it is open or has no name
  std::string verdict;  // one sentence
  std::vector<Evidence> evidence;
  std::vector<std::string> advice;    // sentences
  std::vector<Candidate> candidates;  // most probable first; only when open
  std::vector<RuledOut> ruled_out;    // worth telling, because one would think of them
};

Diagnosis diagnose(const FailureGroup& group, const ProcessAnalysis& process, Neighbourhood& neighbours);

struct ExplainedFailure {
  const FailureGroup& group;
  Diagnosis why;
};

struct ExplainedHang {
  const EventRecord& begin;
  Diagnosis why;
};

// What went wrong in a process, in the order of its own lists.
struct Troubles {
  std::vector<ExplainedFailure> failures;
  std::vector<ExplainedHang> hangs;
};

// Every line of the journal that the diagnoses rest on.
std::set<LineOfJournal> lines_behind(const Troubles& troubles);

// `process` must outlive the result.
Troubles explain(const ProcessAnalysis& process, Neighbourhood& neighbours);

}  // namespace gpumem
