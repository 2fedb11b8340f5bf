#include "render/text_parts.hpp"

#include <algorithm>

#include "analyze/error_codes.hpp"
#include "diagnose/neighbours.hpp"
#include "render/pointer_text.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t longest_command = 70;
constexpr std::size_t longest_argument = 40;
constexpr std::size_t most_frames = 12;  // of the user's own, unless all are wanted

std::string code_text(std::int64_t code, const std::optional<std::string>& name) {
  const auto* known = find_code(code);
  const std::string shown = name ? printable(*name) : known ? std::string(known->driver_name) : "";
  return std::to_string(code) + (shown.empty() ? "" : " (" + shown + ")");
}

class StackWriter {
 public:
  StackWriter(TextPage& page, std::size_t indent, const CallName& name, bool full)
      : page_(page), indent_(indent), name_(name), full_(full) {}

  void add(const ShownFrame& frame) {
    if (!full_ && (!name_.shows(frame) || shown_ == most_frames)) return fold(frame);
    flush();
    page_.hanging(frame.line_text(page_.room(indent_)), indent_);
    ++shown_;
  }

  void flush() {
    if (folded_ == 0) return;
    std::string places;
    for (std::size_t i = 0; i < folded_in_.size() && i < most_places; ++i)
      places += (i == 0 ? "" : ", ") + folded_in_[i];
    if (folded_in_.size() > most_places) places += " and " + std::to_string(folded_in_.size() - most_places) + " more";
    page_.hanging("(" + count_of(folded_, "frame") + " in " + places + ")", indent_);
    folded_ = 0;
    folded_in_.clear();
  }

 private:
  static constexpr std::size_t most_places = 4;  // of folded frames

  void fold(const ShownFrame& frame) {
    ++folded_;
    const std::string place = frame.owner == FrameOwner::interpreter ? "the Python interpreter" : frame.module;
    if (std::find(folded_in_.begin(), folded_in_.end(), place) == folded_in_.end()) folded_in_.push_back(place);
  }

  TextPage& page_;
  std::size_t indent_;
  const CallName& name_;
  bool full_;
  std::size_t shown_ = 0;
  std::uint64_t folded_ = 0;
  std::vector<std::string> folded_in_;
};

std::string python_gap_text(const std::string& reason) {
  if (reason == schema::python::finalizing) return "no Python frames: the interpreter was ending";
  if (reason == schema::python::refused) return "no Python frames: what was read was not what it should be";
  if (reason == schema::python::declined) return "no Python frames: they are not read in this process";
  if (reason == schema::python::cut) return "deeper Python frames were not recorded";
  return "no Python frames: " + printable(reason);
}

void name_callers(const ProcessView& view, std::vector<Evidence>& all) {
  for (auto& evidence : all) {
    if (!evidence.called_in || evidence.called_in->init_frames.empty()) continue;
    const CallName caller = view.names.of_frames(evidence.called_in->all_modules, evidence.called_in->python_places,
                                                 evidence.called_in->init_frames, false);
    if (!caller.label.empty()) evidence.text += ", called by " + caller.label;
    if (!caller.through.empty()) evidence.text += " through " + caller.through;
  }
}

}  // namespace

std::string process_text(const ProcessAnalysis& process) {
  const auto& record = process.process;
  const std::string command = record.argv.empty() ? printable(record.exe) : command_text(record.argv, longest_argument);
  return shortened(command, longest_command) + " (pid " + std::to_string(record.pid) + ")";
}

std::string end_text(const ProcessAnalysis& process) {
  const auto& end = process.end;
  const std::string last = duration_text(process.last_ns);
  const std::string when = end.ns ? ", " + duration_text(*end.ns) + " after its first CUDA call" : "";
  const std::string cut = "; its journal is cut off at " + last + ": what came after is not known";
  const std::string last_record =
      when + (end.cut ? cut : "; its last record is " + last + " after its first CUDA call");
  switch (end.how) {
    case Ending::normal:
      return (end.exit_status ? "ended with status " + std::to_string(*end.exit_status)
                              : std::string("reached its end (exit status not known)")) +
             ", " + last + " after its first CUDA call";
    case Ending::killed:
      return "was killed by " + signal_text(*end.signal) + (end.handlers_ran ? " while it was exiting" : "") +
             last_record;
    case Ending::exited:
      return "ended with status " + std::to_string(*end.exit_status) +
             (end.cut ? "" : " without running its exit handlers (_exit, or a crash handler)") + last_record;
    case Ending::replaced: return "went on as another program (exec)" + last_record;
    case Ending::running: return "is still running" + last_record;
    case Ending::vanished:
      if (end.cut) return "is not running any more" + last_record + ", nor how it ended";
      return "was killed, crashed or called _exit" + last_record;
    case Ending::unknown: break;
  }
  if (end.cut) return "ended in a way that is not known, or still runs" + last_record;
  return "was killed, crashed or called _exit, or is still running on " + printable(process.process.host) + last_record;
}

std::string failure_text(const ProcessView& view, const FailureGroup& group) {
  const FailureRecord& failure = group.first;
  std::string text = failure.inferred ? "The CUDA runtime refused the driver with " +
                                            code_text(failure.code, failure.name) + " after asking " + failure.api
                                      : failure.api + " failed with " + code_text(failure.code, failure.name);
  const bool has_inner = failure.in_code && !failure.in.empty() && failure.in != failure.api;
  if (has_inner) text += ", because " + failure.in + " returned " + code_text(*failure.in_code, failure.in_name);
  text += " at " + duration_text(failure.ns) + ", called by ";
  const CallName& caller = view.names.of(failure.stack);
  text += caller.label;
  if (!caller.through.empty()) text += " through " + caller.through;
  return printable(text);
}

std::string in_flight_text(const ProcessView& view, const EventRecord& begin) {
  const auto& end = view.process.end;
  const std::string inner = begin.in.empty() ? "" : " (in " + printable(begin.in) + ")";
  std::string text = printable(begin.api) + inner + ", entered at " + duration_text(begin.ns) + " by ";
  if (begin.stack > 0) text += view.names.of(begin.stack).label + " in ";
  text += "thread " + std::to_string(begin.tid);
  if (end.now_ns && *end.now_ns >= begin.ns)
    return text + ", has not returned for " + duration_text(*end.now_ns - begin.ns);
  if (end.ns && *end.ns >= begin.ns) {
    return text + ", had not returned when the process ended " + duration_text(*end.ns - begin.ns) + " later";
  }
  return text + ", had not returned when the record ends";
}

std::string outcome_text(const FailureGroup& group) {
  const std::string span = " within " + duration_text(group.last_ns - group.first.ns);
  const std::string sizes = group.is_shrinking() ? ", coming down to " + bytes_text(group.last_bytes) : std::string();
  const std::string freed =
      group.freed_in_between == 0 ? std::string("nothing") : quantity_text(group.first.kind, group.freed_in_between);
  switch (group.end) {
    case Outcome::single: return group.count == 1 ? "" : "failed " + count_of(group.count, "time") + span;
    case Outcome::recovered:
      return "recovered: failed " + count_of(group.count, "time") + sizes + ", succeeded " +
             duration_text(group.recovered_ns - group.first.ns) + " after the first attempt; " + freed +
             " of this kind was freed in between";
    case Outcome::given_up: break;
  }
  if (group.count == 1) return "given up after 1 attempt: no request of this size succeeded within a second";
  return "given up after " + count_of(group.count, "attempt") + span + sizes + "; " + freed +
         " of this kind was freed in between";
}

Diagnosis diagnosis_of(const ProcessView& view, const ExplainedFailure& each) {
  Diagnosis why = each.why;
  const FailureRecord& first = each.group.first;
  if (each.group.pointer && first.address != 0) {
    why.evidence.push_back({pointer_text(view, first, *each.group.pointer),
                            LineOfJournal{schema::line::failure, first.ns, first.tid}, "p", nullptr});
  }
  name_callers(view, why.evidence);
  return why;
}

Diagnosis diagnosis_of(const ProcessView& view, const ExplainedHang& each) {
  Diagnosis why = each.why;
  name_callers(view, why.evidence);
  return why;
}

std::string untracked_text(const ProcessAnalysis& process) {
  const Usage& lost = process.untracked;
  const std::uint64_t counted = process.counters ? process.counters->lost_blocks : 0;
  // The journal may have had no room for their lines either.
  if (counted > static_cast<std::uint64_t>(lost.blocks)) return count_of(counted, "block");
  return count_of(static_cast<std::uint64_t>(lost.blocks), "block") + " (" +
         bytes_text(static_cast<std::uint64_t>(lost.bytes)) + ")";
}

std::string device_text(const ProcessAnalysis& process, DeviceOrdinal device) {
  std::string text = "GPU " + std::to_string(device);
  const auto known = process.devices.find(device);
  if (known == process.devices.end()) return text;
  std::string details;
  for (const auto& detail : {known->second.name, known->second.pci}) {
    if (detail) details += (details.empty() ? "" : ", ") + printable(*detail);
  }
  return details.empty() ? text : text + " (" + details + ")";
}

std::vector<std::pair<TotalKey, Usage>> live_totals(const ProcessAnalysis& process) {
  std::vector<std::pair<TotalKey, Usage>> live;
  for (const auto& [key, total] : process.totals) {
    if (total.live.blocks > 0) live.emplace_back(key, total.live);
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const auto& a, const auto& b) { return shown_before(a.first, b.first); });
  return live;
}

bool has_own_lines(std::string_view kind) { return is_memory(kind) || !counts_of(kind); }

void add_stack(TextPage& page, const ProcessView& view, std::uint64_t stack, std::size_t indent) {
  const CallName& name = view.names.of(stack);
  StackWriter writer(page, indent, name, view.full_stacks);
  for (const auto& frame : name.frames) writer.add(frame);
  writer.flush();
  if (name.cut) page.line("(deeper frames were not recorded: GPUMEM_STACK_DEPTH)", indent);
  if (const StackRecord* record = view.process.stack(stack); record && !record->no_python.empty())
    page.hanging("(" + python_gap_text(record->no_python) + ")", indent);
}

}  // namespace gpumem
