#include "record/pictures.hpp"

#include <algorithm>
#include <charconv>

#include "api/cuda_types.hpp"
#include "api/settings.hpp"
#include "base/pages.hpp"
#include "forensics/error_text.hpp"
#include "forensics/helper_environment.hpp"
#include "forensics/helper_process.hpp"
#include "forensics/process_state.hpp"
#include "intercept/driver_queries.hpp"
#include "journal/schema.hpp"
#include "process_line.hpp"
#include "record/probe_program.hpp"
#include "session.hpp"

namespace gpumem {
namespace {

constexpr int out_of_memory = 2;

// The program called in a way, or at a moment, that cannot work: nothing outside the process explains it.
bool is_misuse(int code) {
  constexpr int invalid_value = 1, deinitialized = 4, invalid_context = 201, invalid_handle = 400, not_found = 500,
                not_permitted = 800, not_supported = 801, first_of_captures = 900, last_of_captures = 908;
  switch (code) {
    case invalid_value:
    case deinitialized:
    case invalid_context:
    case invalid_handle:
    case not_found:
    case not_permitted:
    case not_supported: return true;
    default: return code >= first_of_captures && code <= last_of_captures;
  }
}

bool wants_probe(const FailureRecord& failure) {
  if (is_misuse(failure.code)) return false;
  return failure.start || failure.op == schema::op::context || failure.op == schema::op::alloc ||
         failure.code == out_of_memory;
}

bool wants_state(const FailureRecord& failure) {
  return failure.first || failure.op == schema::op::alloc || failure.code == out_of_memory || wants_probe(failure);
}

void number_if_known(Line& line, std::string_view key, std::uint64_t value) {
  if (value != ProcessState::unknown) line.number(key, value);
}

void write_state(Session& session, const FailureRecord& failure) {
  ProcessState state;
  gather_process_state(state);
  constexpr std::size_t longest_log = 4096;
  const Pages log(longest_log), buffer(2048 + 6 * longest_log);  // control characters are escaped
  if (!log || !buffer) return;
  Line line(buffer.begin(), buffer.size());
  const Stamp stamp = session.stamp();
  line.open(schema::line::state, stamp.ns, stamp.tid);
  write_limits(line, {Limit::address_space, Limit::data, Limit::open_files, Limit::locked_memory, Limit::processes});
  number_if_known(line, "descriptors", state.descriptors);
  line.key("memory");
  line.put("{");
  number_if_known(line, "virtual", state.virtual_bytes);
  number_if_known(line, "resident", state.resident_bytes);
  number_if_known(line, "locked", state.locked_bytes);
  number_if_known(line, "swapped", state.swapped_bytes);
  line.put("}");
  number_if_known(line, "threads", state.threads);
  const bool may_ask = session.driver_usable() && failure.code != cuda_not_permitted;
  if (may_ask && new_driver_log(log.begin(), log.size())) line.text("log", log.begin());
  line.close();
  session.write(line);
}

struct ProbeRecord {
  std::string_view status, reason, said;
  std::uint64_t took_ns = 0;
};

void write_probe(Session& session, const ProbeRecord& record) {
  const std::size_t most = 1024 + 6 * record.reason.size() + 2 * record.said.size();  // quotes are escaped
  const Pages buffer(most);
  if (!buffer) return;
  Line line(buffer.begin(), buffer.size());
  const Stamp stamp = session.stamp();
  line.open(schema::line::probe, stamp.ns, stamp.tid);
  line.word("status", record.status);
  if (!record.reason.empty()) line.text("reason", record.reason);
  if (record.took_ns != 0) line.number("took", record.took_ns);
  if (!record.said.empty()) line.text("said", record.said);
  line.close();
  session.write(line);
}

bool is_object(std::string_view line) { return line.starts_with('{') && line.ends_with('}'); }

ProbeRecord record_of(const HelperOutcome& outcome, std::string_view line) {
  switch (outcome.end) {
    case HelperOutcome::End::not_started: return {schema::probe::not_started, outcome.reason, {}};
    case HelperOutcome::End::timed_out: return {schema::probe::timed_out, {}, {}};
    case HelperOutcome::End::said_nothing: return {schema::probe::failed, outcome.reason, {}};
    case HelperOutcome::End::told: break;
  }
  if (!is_object(line)) return {schema::probe::failed, "what it printed is no object", {}};
  return {schema::probe::ok, {}, line};
}

// How a program ends that the loader finds no library, or no version of a symbol, for.
bool was_not_loaded(const HelperOutcome& outcome) { return outcome.exit_status == 127 || outcome.exit_status == 1; }

void run_probe(Session& session, std::uint64_t began_ns, std::uint64_t longest_ns) {
  constexpr std::size_t longest_line = 1 << 20;
  Pages line(longest_line);
  HelperEnvironment environment(session.facts);
  ProbeProgram program;
  const auto give_up = [&](std::string_view reason) { write_probe(session, {schema::probe::not_started, reason, {}}); };
  if (!line || environment.entries() == nullptr) return give_up("ENOMEM");
  if (!find_probe_program(program)) return give_up("there is no gpumem beside the library nor in ../bin");
  char deadline[16] = "";
  std::to_chars(deadline, deadline + sizeof deadline - 1, static_cast<std::uint32_t>(settings().probe_timeout));
  const char* const arguments[] = {program.path, "probe", "--format", "json", "--deadline", deadline, nullptr};
  const auto run = [&] {
    const std::uint64_t used_ns = monotonic_ns() - began_ns;
    return run_helper({program.path, arguments, environment.entries(), longest_ns - std::min(used_ns, longest_ns)},
                      line);
  };
  HelperOutcome outcome = run();
  // What the program's path holds for it may not be for gpumem.
  char without[96] = "";
  if (was_not_loaded(outcome) && environment.remove("LD_LIBRARY_PATH")) {
    numbered_text("without LD_LIBRARY_PATH, with which gpumem ended with status ", outcome.exit_status, without,
                  sizeof without);
    outcome = run();
  }
  ProbeRecord record = record_of(outcome, {line.begin(), outcome.size});
  if (record.reason.empty()) record.reason = without;
  record.took_ns = monotonic_ns() - began_ns;
  write_probe(session, record);
}

void take_probe(Session& session) {
  const std::uint64_t began_ns = monotonic_ns();
  if (std::string_view(settings().probe) == "0") {
    constexpr std::uint64_t for_good = ~std::uint64_t{0} / 200;
    if (session.picture_limits.begin_probe(began_ns, for_good)) write_probe(session, {schema::probe::off, {}, {}});
    return;
  }
  // gpumem itself takes its time to be started.
  constexpr std::uint64_t start_ns = 500 * ns_per_millisecond;
  const std::uint64_t longest_ns = static_cast<std::uint64_t>(settings().probe_timeout) * ns_per_millisecond + start_ns;
  if (!session.picture_limits.begin_probe(began_ns, longest_ns)) return;
  run_probe(session, began_ns, longest_ns);
  session.picture_limits.end_probe(began_ns, monotonic_ns());
}

}  // namespace

void take_picture(Session& session, const FailureRecord& failure) {
  if (process_is_exiting() || !wants_state(failure)) return;
  const bool is_due = session.picture_limits.state_due(static_cast<unsigned>(failure.api), failure.code, failure.device,
                                                       monotonic_ns());
  if (!is_due) return;
  write_state(session, failure);
  if (wants_probe(failure)) take_probe(session);
}

}  // namespace gpumem
