#include "render/text_parts.hpp"

#include <algorithm>

#include "analyze/error_codes.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t longest_command = 70;
constexpr std::size_t most_frames = 12;  // of the user's own, unless all are wanted

std::string code_text(std::int64_t code, const std::optional<std::string>& name) {
  const auto* known = find_code(code);
  const std::string shown = name ? printable(*name) : known ? std::string(known->driver_name) : "";
  return std::to_string(code) + (shown.empty() ? "" : " (" + shown + ")");
}

std::string frame_line(const ShownFrame& frame) {
  if (frame.function.empty()) return frame.address;
  std::string text = frame.function;
  if (!frame.file.empty()) text += "  " + frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
  if (frame.file.empty()) text += "  " + frame.address;
  return text + (frame.inlined ? "  (inlined)" : "");
}

class StackWriter {
 public:
  StackWriter(TextPage& page, std::size_t indent, bool full) : page_(page), indent_(indent), full_(full) {}

  void add(const ShownFrame& frame) {
    const bool is_shown = full_ || frame.owner == FrameOwner::user;
    if (!is_shown || (!full_ && shown_ == most_frames)) {
      ++folded_;
      if (std::find(folded_modules_.begin(), folded_modules_.end(), frame.module) == folded_modules_.end()) {
        folded_modules_.push_back(frame.module);
      }
      return;
    }
    flush();
    page_.line(frame_line(frame), indent_);
    ++shown_;
  }

  void flush() {
    if (folded_ == 0) return;
    std::string modules;
    for (const auto& module : folded_modules_) modules += (modules.empty() ? "" : ", ") + module;
    page_.line("(" + count_of(folded_, "frame") + " in " + modules + ")", indent_);
    folded_ = 0;
    folded_modules_.clear();
  }

 private:
  TextPage& page_;
  std::size_t indent_;
  bool full_;
  std::size_t shown_ = 0;
  std::uint64_t folded_ = 0;
  std::vector<std::string> folded_modules_;
};

}  // namespace

std::string process_text(const ProcessAnalysis& process) {
  const auto& record = process.process;
  std::string command = record.argv.empty() ? printable(record.exe) : command_text(record.argv);
  if (command.size() > longest_command) {
    command.resize(longest_command);
    while (!command.empty() && (static_cast<unsigned char>(command.back()) & 0xc0) == 0x80) command.pop_back();
    command += "...";
  }
  return command + " (pid " + std::to_string(record.pid) + ")";
}

std::string end_text(const ProcessAnalysis& process) {
  const auto& end = process.end;
  const std::string last = duration_text(process.last_ns);
  const std::string when = end.ns ? " after " + duration_text(*end.ns) : "";
  const std::string last_record = when + "; its last record is " + last + " after its first";
  switch (end.how) {
    case Ending::normal:
      if (end.exit_status.value_or(0) != 0) {
        return "ended by itself with status " + std::to_string(*end.exit_status) + " after " + last;
      }
      return "ended normally after " + last;
    case Ending::killed:
      return "was killed by " + signal_text(*end.signal) + (end.handlers_ran ? " while it was exiting" : "") +
             last_record;
    case Ending::exited:
      return "ended with status " + std::to_string(*end.exit_status) +
             " without running its exit handlers (_exit, or a crash handler)" + last_record;
    case Ending::replaced: return "went on as another program (exec)" + last_record;
    case Ending::running: return "is still running" + last_record;
    case Ending::vanished: return "was killed, crashed or called _exit" + last_record;
    case Ending::unknown: break;
  }
  return "was killed, crashed or called _exit, or is still running on " + printable(process.process.host) + last_record;
}

std::string failure_text(const ProcessView& view, const FailureGroup& group) {
  const FailureRecord& failure = group.first;
  std::string text = failure.api + " failed with " + code_text(failure.code, failure.name);
  const bool has_inner = failure.in_code && !failure.in.empty() && failure.in != failure.api;
  if (has_inner) text += ", because " + failure.in + " returned " + code_text(*failure.in_code, failure.in_name);
  text += " at " + duration_text(failure.ns) + ", called by ";
  const CallName& caller = view.names.of(failure.stack);
  text += caller.label;
  if (!caller.through.empty()) text += " through " + caller.through;
  return printable(text);
}

std::string in_flight_since(const ProcessAnalysis& process, const EventRecord& begin) {
  const auto end = process.end.ns;
  return end && *end >= begin.ns ? duration_text(*end - begin.ns) + " before the end"
                                 : duration_text(process.last_ns - begin.ns) + " before the last record";
}

std::string outcome_text(const FailureGroup& group) {
  const std::string times = count_of(group.count, "time");
  const std::string span = " within " + duration_text(group.last_ns - group.first.ns);
  switch (group.end) {
    case Outcome::single: return group.count == 1 ? "" : "failed " + times + span;
    case Outcome::recovered:
      return "recovered: failed " + times + ", succeeded " + duration_text(group.recovered_ns - group.first.ns) +
             " after the first attempt; " + bytes_text(group.freed_in_between) + " of this kind were freed in between";
    case Outcome::given_up: break;
  }
  if (group.count == 1) return "given up: no later request of this size succeeded within a second";
  return "given up after " + times + span + "; " +
         (group.freed_in_between == 0 ? std::string("nothing") : bytes_text(group.freed_in_between)) +
         " of this kind was freed in between";
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

void add_stack(TextPage& page, const ProcessView& view, std::uint64_t stack, std::size_t indent) {
  const CallName& name = view.names.of(stack);
  const bool has_user_frames = std::any_of(name.frames.begin(), name.frames.end(),
                                           [](const ShownFrame& frame) { return frame.owner == FrameOwner::user; });
  StackWriter writer(page, indent, view.full_stacks || !has_user_frames);
  for (const auto& frame : name.frames) writer.add(frame);
  writer.flush();
  if (name.cut) page.line("(deeper frames were not recorded: GPUMEM_STACK_DEPTH)", indent);
}

}  // namespace gpumem
