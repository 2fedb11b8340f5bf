#include "diagnose/diagnosis.hpp"

#include <memory>

#include "analyze/error_codes.hpp"
#include "diagnose/allocation.hpp"
#include "diagnose/beside.hpp"
#include "diagnose/hang.hpp"
#include "diagnose/neighbours.hpp"
#include "diagnose/scene.hpp"
#include "diagnose/start.hpp"
#include "model/record_parser.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

// Many failures share one look at the machine.
class Machines {
 public:
  const Machine* of(const std::optional<ProbeRecord>& probe) {
    if (!probe || probe->said.empty()) return nullptr;
    if (read_ && read_of_.ns == probe->ns && read_of_.tid == probe->tid) return read_.get();
    read_of_ = *probe;
    read_.reset();
    try {
      read_ = std::make_unique<Machine>(read_machine_text(probe->said));
    } catch (const BadLine&) {
    }
    return read_.get();
  }

 private:
  LineHead read_of_;
  std::unique_ptr<Machine> read_;
};

Diagnosis of_a_free_at_exit(const Scene& scene) {
  Diagnosis result;
  result.id = "driver_gone";
  result.sureness = Certainty::proven;
  result.verdict = "The driver was already shutting down: harmless for the memory, which ends with the process.";
  result.evidence = {scene.from_failure("the code itself says that the driver is shutting down")};
  result.advice = {"To get rid of the error, destroy the owning objects before main returns."};
  return result;
}

Diagnosis of_the_code(const FailureGroup& group, std::int64_t code) {
  Diagnosis result;
  const auto* meaning = find_code(code);
  result.verdict = meaning ? "Code " + std::to_string(code) + " means: " + std::string(meaning->meaning) + "."
                           : "The code " + std::to_string(code) + " is not in this version's table.";
  if (group.pointer && group.pointer->live && !group.pointer->live->is_right_function) {
    const auto& kind = *find_kind(group.pointer->live->total.kind);
    result.id = "wrong_free";
    result.sureness = Certainty::likely;
    result.verdict =
        "What it was given (" + std::string(kind.text) + ") must be given back by " + given_back_text(kind.kind) + ".";
  }
  return result;
}

Diagnosis of_an_allocation(const Scene& scene) {
  Diagnosis result = diagnose_allocation(scene);
  // Whatever else the machine shows, such a request fits nowhere.
  if (result.id != "larger_than_device") tell_what_is_missing(scene, result);
  return result;
}

Diagnosis judge(const Scene& scene) {
  const FailureGroup& group = scene.group();
  const FailureRecord& failure = group.first;
  const bool starts = failure.start || failure.tried == schema::op::init || failure.tried == schema::op::context;
  if (starts) return diagnose_start(scene);
  const bool needs_memory =
      failure.tried == schema::op::alloc || failure.tried == schema::op::launch || failure.tried == schema::op::other;
  if (needs_memory && returned_out_of_memory(failure)) return of_an_allocation(scene);
  if (failure.tried == schema::op::free && scene.code() == code_shutting_down) return of_a_free_at_exit(scene);
  return is_explained_by_causes(scene) ? diagnose_start(scene) : of_the_code(group, scene.code());
}

Diagnosis diagnose_with(const FailureGroup& group, const ProcessAnalysis& process, const Machine* machine,
                        Neighbourhood& neighbours) {
  const Scene scene(group, process, machine, neighbours);
  Diagnosis why = judge(scene);
  if (group.state && !group.state->log.empty())
    why.evidence.push_back(scene.from_state("the driver's own log says: " + group.state->log, "log"));
  return why;
}

}  // namespace

Diagnosis diagnose(const FailureGroup& group, const ProcessAnalysis& process, Neighbourhood& neighbours) {
  Machines machines;
  return diagnose_with(group, process, machines.of(group.probe), neighbours);
}

std::set<LineOfJournal> lines_behind(const Troubles& troubles) {
  std::set<LineOfJournal> lines;
  const auto add = [&](const std::vector<Evidence>& all) {
    for (const auto& evidence : all) {
      if (evidence.line) lines.insert(*evidence.line);
    }
  };
  const auto add_diagnosis = [&](std::string_view type, const LineHead& call, const Diagnosis& why) {
    lines.insert({type, call.ns, call.tid});
    add(why.evidence);
    for (const auto& candidate : why.candidates) add(candidate.evidence), add(candidate.against);
    for (const auto& cause : why.ruled_out) add(cause.against);
  };
  for (const auto& each : troubles.failures) add_diagnosis(schema::line::failure, each.group.first, each.why);
  for (const auto& each : troubles.hangs) add_diagnosis(schema::line::event, each.begin, each.why);
  return lines;
}

Troubles explain(const ProcessAnalysis& process, Neighbourhood& neighbours) {
  Machines machines;
  Troubles troubles;
  for (const auto& group : process.failures)
    troubles.failures.push_back({group, diagnose_with(group, process, machines.of(group.probe), neighbours)});
  const auto latest = newest_probe(process);
  for (const auto& begin : process.in_flight)
    troubles.hangs.push_back({begin, diagnose_hang(begin, process, machines.of(latest), neighbours)});
  return troubles;
}

}  // namespace gpumem
