#include "process_line.hpp"

#include <cstdlib>
#include <cstring>
#include <iterator>

#include <time.h>

#include "api/settings.hpp"
#include "base/loaded_objects.hpp"
#include "intercept/call.hpp"
#include "intercept/routes.hpp"
#include "journal/schema.hpp"
#include "session.hpp"

namespace gpumem {
namespace {

bool is_utf8(std::string_view text) {
  char buffer[1];
  Line scratch(buffer, sizeof buffer);
  return scratch.quoted(text);
}

void write_arguments(Line& line, const ProcessFacts& facts) {
  const std::size_t most = settings().redact ? 1 : ~std::size_t{0};
  bool all_valid = true;
  std::string_view argument;
  line.key("argv");
  line.put("[");
  for (std::size_t i = 0; i < most && nth_text(facts.arguments, facts.arguments_size, i, argument); ++i) {
    line.separate();
    all_valid &= line.quoted(argument);
  }
  line.put("]");
  if (all_valid) return;
  line.key("argv_raw_hex");
  line.put("[");
  for (std::size_t i = 0; i < most && nth_text(facts.arguments, facts.arguments_size, i, argument); ++i) {
    line.separate();
    if (is_utf8(argument)) {
      line.put("null");
    } else {
      line.hex_bytes(argument.data(), argument.size());
    }
  }
  line.put("]");
}

void write_environment(Line& line, const ProcessFacts& facts) {
  line.key("env");
  line.put("{");
  for (std::size_t i = 0; i < std::size(recorded_variables); ++i) {
    const std::string_view value = facts.recorded_at_exec[i];
    if (value.data() != nullptr) line.text(recorded_variables[i], value);
  }
  line.put("}");
}

void write_shim(Line& line) {
  line.key("shim");
  line.put("{");
  line.word("version", GPUMEM_VERSION);
  const unsigned char* id = nullptr;
  if (const std::size_t size = this_object().build_id(id)) {
    line.key("build_id");
    line.hex_bytes(id, size);
  } else {
    line.null("build_id");
  }
  line.put("}");
}

void write_origin(Line& line, const Session* parent) {
  if (parent == nullptr) return line.null("forked_from");
  const char* path = parent->journal.path();
  const char* slash = std::strrchr(path, '/');
  line.key("forked_from");
  line.put("{");
  line.signed_number("pid", parent->facts.pid);
  line.text("journal", slash != nullptr ? slash + 1 : path);
  line.number("events",
              parent->events.load(std::memory_order_relaxed) + parent->failures.load(std::memory_order_relaxed));
  line.truth("initialized", parent->initialized.load(std::memory_order_relaxed));
  if (parent->start_of_cuda.known.load(std::memory_order_acquire)) {
    line.key("init");
    line.put("{");
    line.word("api", api_name(parent->start_of_cuda.api));
    line.number("ns", parent->start_of_cuda.ns);
    line.number("s", parent->start_of_cuda.stack);
    line.put("}");
  }
  line.put("}");
}

// Of each variable once, with what stands around it, and of what ends the line.
constexpr std::size_t room_for_names = [] {
  std::size_t room = 64;
  for (const char* name : recorded_variables) room += std::string_view(name).size() + sizeof R"("":null,)";
  return room;
}();

void write_identity(Line& line, const Session& session) {
  const ProcessFacts& facts = session.facts;
  line.number("schema", schema::version);
  line.number("wall_ns", session.wall_ns);
  line.signed_number("pid", facts.pid);
  line.text("host", facts.host);
  line.number("start", facts.start_ticks);
  line.number("n", session.journal_number);
  line.text("exe", facts.executable);
  if (!settings().events) line.truth("events", false);
}

}  // namespace

std::uint64_t wall_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void write_process_again(Line& line, const Session& session, std::uint32_t segment) {
  const Stamp stamp = session.stamp();
  line.open(schema::line::process, stamp.ns, stamp.tid);
  write_identity(line, session);
  line.number("segment", segment);
  line.close();
}

void write_process(Line& line, const Session& session, const Session* parent) {
  const ProcessFacts& facts = session.facts;
  line.open(schema::line::process, 0, session.thread());
  write_identity(line, session);
  line.signed_number("ppid", facts.parent);
  line.number("uid", facts.user);
  write_arguments(line, facts);
  if (settings().redact) {
    line.null("cwd");
  } else {
    line.text("cwd", facts.directory);
  }
  write_environment(line, facts);
  write_limits(line, {Limit::address_space, Limit::open_files, Limit::locked_memory});
  if (facts.kernel_driver[0] == '\0') {
    line.null("kernel_driver");
  } else {
    line.text("kernel_driver", facts.kernel_driver);
  }
  write_shim(line);
  write_origin(line, parent);
  line.close();
}

void write_limits(Line& line, std::initializer_list<Limit> limits) {
  constexpr std::string_view keys[] = {"as", "data", "nofile", "memlock", "nproc"};
  line.key("limits");
  line.put("{");
  for (const Limit limit : limits) {
    const std::string_view key = keys[static_cast<unsigned>(limit)];
    std::uint64_t value = 0;
    if (soft_limit(limit, value)) {
      line.number(key, value);
    } else {
      line.null(key);
    }
  }
  line.put("}");
}

void write_changed_environment(Line& line, const ProcessFacts& facts) {
  constexpr std::size_t count = std::size(recorded_variables);
  bool left_out[count] = {};
  bool any = false, any_left_out = false;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const name = recorded_variables[i];
    const std::string_view before = facts.recorded_at_exec[i];
    const char* now = std::getenv(name);
    const bool was_set = before.data() != nullptr;
    if (!was_set && (now == nullptr || !facts.has_whole_environment)) continue;
    if (was_set && now != nullptr && before == now) continue;
    if (!any) {
      line.key("env_now");
      line.put("{");
      any = true;
    }
    if (now == nullptr) {
      line.null(name);
    } else if (!line.text_with_room(name, now, room_for_names)) {
      left_out[i] = any_left_out = true;
    }
  }
  if (any) line.put("}");
  if (!any_left_out) return;
  line.key("env_left_out");
  line.put("[");
  for (std::size_t i = 0; i < count; ++i) {
    if (!left_out[i]) continue;
    line.separate();
    line.quoted(recorded_variables[i]);
  }
  line.put("]");
}

}  // namespace gpumem
