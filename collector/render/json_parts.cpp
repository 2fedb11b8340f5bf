#include "render/json_parts.hpp"

#include "render/text_parts.hpp"

namespace gpumem {

ordered_json or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

const char* word(Ending how) {
  switch (how) {
    case Ending::normal: return "normal";
    case Ending::exited: return "exited";
    case Ending::killed: return "killed";
    case Ending::replaced: return "replaced";
    case Ending::running: return "running";
    case Ending::vanished: return "vanished";
    case Ending::unknown: break;
  }
  return "unknown";
}

const char* word(LeakClass what) {
  switch (what) {
    case LeakClass::growing: return "growing";
    case LeakClass::held: return "held";
    case LeakClass::free_failed: return "free_failed";
    case LeakClass::dropped: return "dropped";
    case LeakClass::freed_at_exit: break;
  }
  return "freed_at_exit";
}

const char* word(Outcome end) {
  switch (end) {
    case Outcome::single: return "single";
    case Outcome::recovered: return "recovered";
    case Outcome::given_up: break;
  }
  return "given_up";
}

const char* word(Certainty sureness) {
  switch (sureness) {
    case Certainty::proven: return "proven";
    case Certainty::likely: return "likely";
    case Certainty::open: break;
  }
  return "open";
}

const char* word(Counts counts) {
  switch (counts) {
    case Counts::device_memory: return "device_memory";
    case Counts::host_memory: return "host_memory";
    case Counts::graph_memory: return "graph_memory";
    case Counts::addresses: return "addresses";
    case Counts::others_memory: return "others_memory";
    case Counts::code: return "code";
    case Counts::handles: break;
  }
  return "handles";
}

const char* word(FrameOwner owner) {
  switch (owner) {
    case FrameOwner::framework: return "framework";
    case FrameOwner::allocator: return "allocator";
    case FrameOwner::cuda: return "cuda";
    case FrameOwner::language: return "language";
    case FrameOwner::interpreter: return "interpreter";
    case FrameOwner::user: break;
  }
  return "user";
}

ordered_json total_object(const TotalKey& total) {
  const auto counts = counts_of(total.kind);
  return {{"device", or_null(total.device)},
          {"kind", total.kind},
          {"counts", counts ? ordered_json(word(*counts)) : ordered_json()}};
}

void put_usage(ordered_json& object, const Usage& amount) {
  object["blocks"] = amount.blocks;
  object["bytes"] = amount.bytes;
}

ordered_json site_object(const ProcessView& view, std::uint64_t stack) {
  const CallName& name = view.names.of(stack);
  ordered_json frames = ordered_json::array();
  for (const auto& frame : name.frames) {
    frames.push_back({{"address", or_null(frame.address)},
                      {"function", or_null(frame.function)},
                      {"file", or_null(frame.file)},
                      {"line", frame.line > 0 ? ordered_json(frame.line) : ordered_json()},
                      {"inlined", frame.inlined},
                      {"python", frame.python},
                      {"owner", word(frame.owner)}});
  }
  return {{"stack", stack},
          {"label", name.label},
          {"through", or_null(name.through)},
          {"library", or_null(name.library)},
          {"cut", name.cut},
          {"frames", std::move(frames)}};
}

namespace {

ordered_json host_line(const std::optional<HostRecord>& line) {
  if (!line) return nullptr;
  return {{"ns", line->ns},
          {"resident", or_null(line->resident)},
          {"swapped", or_null(line->swapped)},
          {"pinned", or_null(line->pinned)},
          {"available", or_null(line->available)},
          {"group_used", or_null(line->group_used)},
          {"group_limit", or_null(line->group_limit)},
          {"group_kills", or_null(line->group_kills)}};
}

const char* word(HostShortage shortage) {
  switch (shortage) {
    case HostShortage::group_killed: return "group_killed";
    case HostShortage::group_full: return "group_full";
    case HostShortage::machine_full: return "machine_full";
    case HostShortage::none: break;
  }
  return "none";
}

ordered_json host_memory_json(const HostMemory& memory) {
  return {{"shortage", word(memory.shortage)},
          {"first", host_line(memory.first)},
          {"highest", host_line(memory.highest)},
          {"latest", host_line(memory.latest)}};
}

}  // namespace

ordered_json process_object(const ProcessView& view) {
  const auto& process = view.process;
  ordered_json end = {{"how", word(process.end.how)},
                      {"exit_status", or_null(process.end.exit_status)},
                      {"signal", or_null(process.end.signal)},
                      {"text", end_text(process)}};
  ordered_json forked = nullptr;
  if (const auto& origin = process.process.forked_from) {
    forked = {{"pid", origin->pid}, {"journal", origin->journal}, {"cuda_started", origin->initialized}};
  }
  ordered_json gaps = ordered_json::array();
  for (const auto& gap : process.gaps) {
    gaps.push_back({{"since_ns", gap.since_ns},
                    {"until_ns", gap.until_ns},
                    {"first_segment", gap.first_segment},
                    {"segments", gap.segments},
                    {"bridged", gap.is_bridged},
                    {"events", gap.events},
                    {"failures", gap.failures}});
  }
  ordered_json marks = ordered_json::array();
  for (const auto& moment : process.marks) {
    ordered_json live = ordered_json::array();
    for (const auto& [device, bytes] : moment.on_device) live.push_back({{"device", device}, {"bytes", bytes}});
    marks.push_back({{"ns", moment.mark.ns},
                     {"text", moment.mark.text},
                     {"live", moment.is_known ? std::move(live) : ordered_json()}});
  }
  return {{"journal", process.journal},
          {"pid", process.process.pid},
          {"parent_pid", process.process.ppid},
          {"host", process.process.host},
          {"executable", process.process.exe},
          {"arguments", process.process.argv},
          {"started_wall_ns", process.process.wall_ns},
          {"last_ns", process.last_ns},
          {"forked_from", std::move(forked)},
          {"end", std::move(end)},
          {"segments", process.segments},
          {"gaps", std::move(gaps)},
          {"live_as_of_ns", or_null(process.live_as_of)},
          {"marks", std::move(marks)},
          {"host_memory", host_memory_json(process.host_memory)},
          {"records",
           {{"events", process.events},
            {"failures", process.failed_calls},
            {"torn_lines", process.skipped.torn},
            {"unknown_lines", process.skipped.unknown},
            {"invalid_lines", process.skipped.invalid},
            {"cut", process.skipped.cut},
            {"bad_marks", process.bad_marks},
            {"unknown_frees", process.unknown_frees},
            {"untracked_blocks", process.untracked.blocks},
            {"untracked_bytes", process.untracked.bytes},
            {"lost_lines", process.counters ? ordered_json(process.counters->lost_lines) : ordered_json()},
            {"lost_blocks", process.counters ? ordered_json(process.counters->lost_blocks) : ordered_json()},
            {"lost_stacks", process.counters ? ordered_json(process.counters->lost_stacks) : ordered_json()}}}};
}

}  // namespace gpumem
