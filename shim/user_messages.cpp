#include "user_messages.hpp"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <unistd.h>

#include "api/settings.hpp"
#include "base/old_glibc.hpp"
#include "base/own_work.hpp"
#include "base/pages.hpp"
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

// What a pipe takes whole, or not at all.
constexpr std::size_t longest_message = PIPE_BUF;

// The program must not wait, stop or die for a message: one that cannot be written at once is dropped.
void say(const Line& line) {
  if (!line.fits() || line.size() > longest_message || !stderr_is_ours()) return;
  SignalShield shield;
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.view().data(), line.size());
}

void say(std::string_view what, std::string_view detail) {
  char buffer[longest_message];
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
  const bool passed_by = session.passed_by.load();
  if (settings().quiet || (events + failures == 0 && !passed_by)) return;
  char buffer[longest_message];
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
  if (passed_by) line.put(", and calls that were not seen");
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
  const std::size_t capacity = std::strlen(list) + 1;
  const Pages pages(capacity);
  if (!pages) return;
  // By its file name: the loader may have been given a bare name, or one with $ORIGIN in it.
  constexpr std::string_view own_name = "libgpumemshim.so";
  Line kept(pages.begin(), capacity);
  for (const char* entry = list; *entry != '\0';) {
    const std::string_view path(entry, std::strcspn(entry, ": "));
    if (!path.empty() && !path.ends_with(own_name)) {
      if (kept.size() != 0) kept.put(":");
      kept.put(path);
    }
    entry += path.size() + (entry[path.size()] != '\0');
  }
  if (kept.size() == 0) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", pages.begin(), 1);
  }
}

}  // namespace gpumem
