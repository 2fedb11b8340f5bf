#include "render/json_parts.hpp"

#include "render/text_parts.hpp"

namespace gpumem {

ordered_json or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

const char* word(ending how) {
  switch (how) {
    case ending::normal: return "normal";
    case ending::exited: return "exited";
    case ending::killed: return "killed";
    case ending::replaced: return "replaced";
    case ending::running: return "running";
    case ending::vanished: return "vanished";
    case ending::unknown: break;
  }
  return "unknown";
}

const char* word(leak_class what) {
  switch (what) {
    case leak_class::growing: return "growing";
    case leak_class::held: return "held";
    case leak_class::free_failed: return "free_failed";
    case leak_class::dropped: return "dropped";
    case leak_class::freed_at_exit: break;
  }
  return "freed_at_exit";
}

const char* word(outcome end) {
  switch (end) {
    case outcome::single: return "single";
    case outcome::recovered: return "recovered";
    case outcome::given_up: break;
  }
  return "given_up";
}

const char* word(certainty sureness) {
  switch (sureness) {
    case certainty::proven: return "proven";
    case certainty::likely: return "likely";
    case certainty::open: break;
  }
  return "open";
}

ordered_json total_object(const total_key& total) { return {{"device", or_null(total.device)}, {"kind", total.kind}}; }

void put_usage(ordered_json& object, const usage& amount) {
  object["blocks"] = amount.blocks;
  object["bytes"] = amount.bytes;
}

ordered_json site_object(const process_view& view, std::uint64_t stack) {
  const call_name& name = view.names.of(stack);
  ordered_json frames = ordered_json::array();
  for (const auto& frame : name.frames) {
    frames.push_back({{"address", frame.address},
                      {"function", or_null(frame.function)},
                      {"file", or_null(frame.file)},
                      {"line", frame.line > 0 ? ordered_json(frame.line) : ordered_json()},
                      {"inlined", frame.inlined},
                      {"user_code", frame.owner == frame_owner::user}});
  }
  return {{"stack", stack},
          {"label", name.label},
          {"through", or_null(name.through)},
          {"library", or_null(name.library)},
          {"cut", name.cut},
          {"frames", std::move(frames)}};
}

ordered_json process_object(const process_view& view) {
  const auto& process = view.process;
  ordered_json end = {{"how", word(process.end.how)},
                      {"exit_status", or_null(process.end.exit_status)},
                      {"signal", or_null(process.end.signal)},
                      {"text", end_text(process)}};
  ordered_json forked = nullptr;
  if (const auto& origin = process.process.forked_from) {
    forked = {{"pid", origin->pid}, {"journal", origin->journal}, {"cuda_started", origin->initialized}};
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
          {"records",
           {{"events", process.events},
            {"failures", process.failed_calls},
            {"torn_lines", process.skipped.torn},
            {"unknown_lines", process.skipped.unknown},
            {"invalid_lines", process.skipped.invalid},
            {"cut", process.skipped.cut},
            {"unknown_frees", process.unknown_frees},
            {"lost_lines", process.end_line ? ordered_json(process.end_line->lost_lines) : ordered_json()},
            {"lost_blocks", process.end_line ? ordered_json(process.end_line->lost_blocks) : ordered_json()},
            {"lost_stacks", process.end_line ? ordered_json(process.end_line->lost_stacks) : ordered_json()}}}};
}

}  // namespace gpumem
