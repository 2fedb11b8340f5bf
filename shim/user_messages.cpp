#include "user_messages.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "api/settings.hpp"
#include "base/loaded_objects.hpp"
#include "base/old_glibc.hpp"
#include "journal/line.hpp"
#include "session.hpp"

namespace gpumem {
namespace {

struct stat stderr_at_load {};
bool had_stderr = false;

bool stderr_is_ours() {
  struct stat now {};
  return had_stderr && status_of_descriptor(STDERR_FILENO, now) && now.st_dev == stderr_at_load.st_dev &&
         now.st_ino == stderr_at_load.st_ino;
}

void say(const Line& line) {
  if (!line.fits() || !stderr_is_ours()) return;
  // A short or failed write changes nothing for the program.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.view().data(), line.size());
}

void say(std::string_view what, std::string_view detail) {
  char buffer[5000];
  Line line(buffer, sizeof buffer);
  line.put("gpumem: ");
  line.put(what);
  line.put(": ");
  line.put(detail);
  line.put("\n");
  say(line);
}

void put_counted(Line& line, std::uint64_t count, std::string_view noun) {
  line.digits(count);
  line.put(" ");
  line.put(noun);
  if (count != 1) line.put("s");
}

}  // namespace

void remember_stderr() { had_stderr = status_of_descriptor(STDERR_FILENO, stderr_at_load); }

void say_farewell(const Session& session) {
  const std::uint64_t events = session.events.load(), failures = session.failures.load();
  if (settings().quiet || events + failures == 0) return;
  char buffer[5000];
  Line line(buffer, sizeof buffer);
  line.put("gpumem: ");
  put_counted(line, events, "event");
  line.put(", ");
  put_counted(line, failures, "failed call");
  if (const std::uint64_t lost = session.lost_lines.load()) {
    line.put(", ");
    put_counted(line, lost, "line");
    line.put(" lost");
  }
  if (const std::uint64_t lost = session.lost_blocks.load()) {
    line.put(", ");
    put_counted(line, lost, "block");
    line.put(" not tracked");
  }
  line.put(". See: gpumem report ");
  line.put(session.journal.path());
  line.put("\n");
  say(line);
}

void say_trouble(std::string_view what, std::string_view detail) {
  static constinit std::atomic<bool> said{false};
  if (settings().quiet || said.exchange(true)) return;
  say(what, detail);
}

void say_rejected_settings() {
  if (settings().quiet) return;
  for (unsigned i = 0; i < settings().rejected_count; ++i) {
    const Settings::Rejected& rejected = settings().rejected[i];
    char buffer[512];
    Line line(buffer, sizeof buffer);
    line.put("gpumem: ");
    line.put(rejected.variable);
    line.put("=");
    line.put(rejected.value);
    line.put(" is ignored and the default used: it must be ");
    line.put(rejected.wanted);
    line.put("\n");
    say(line);
  }
}

void say_debug(std::string_view what, std::string_view detail) {
  if (settings().debug) say(what, detail);
}

void leave_ld_preload() {
  const char* list = std::getenv("LD_PRELOAD");
  if (list == nullptr) return;
  const std::uintptr_t self = this_object().base;
  char kept[4096] = "";
  std::size_t length = 0;
  any_object([&](const LoadedObject& object) {
    if (object.base != self) return false;
    for (const char* entry = list; *entry != '\0';) {
      const std::size_t size = std::strcspn(entry, ": ");
      const bool ours = size == std::strlen(object.path) && std::memcmp(entry, object.path, size) == 0;
      if (size != 0 && !ours && length + size + 2 < sizeof kept) {
        if (length != 0) kept[length++] = ':';
        std::memcpy(kept + length, entry, size);
        length += size;
      }
      entry += size + (entry[size] != '\0');
    }
    return true;
  });
  kept[length] = '\0';
  if (length == 0) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", kept, 1);
  }
}

}  // namespace gpumem
