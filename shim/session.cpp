#include "session.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/syscall.h>
#include <unistd.h>

#include "api/settings.hpp"
#include "base/loaded_objects.hpp"
#include "base/own_work.hpp"
#include "base/pages.hpp"
#include "checkpoint.hpp"
#include "coverage.hpp"
#include "intercept/call.hpp"
#include "journal/folder.hpp"
#include "journal/schema.hpp"
#include "process_line.hpp"
#include "stack/python/interpreter.hpp"
#include "totals_line.hpp"
#include "user_messages.hpp"

namespace gpumem {
namespace {

std::atomic<Session*> current_session{nullptr};
SpinLock starting;
std::atomic<bool> exiting{false};
std::atomic<bool> exit_watched{false};
pid_t loaded_in = 0;

std::uint32_t thread_id(std::uint32_t epoch) {
  struct Cached {
    std::uint32_t epoch, tid;
  };
  static constinit thread_local Cached cached{0, 0};
  if (cached.epoch != epoch) cached = {epoch, static_cast<std::uint32_t>(syscall(SYS_gettid))};
  return cached.tid;
}

bool open_journal(Session& fresh) {
  JournalName name{fresh.facts.host[0] != '\0' ? fresh.facts.host : "localhost", fresh.facts.pid,
                   fresh.facts.start_ticks, 0};
  const auto writing = settings().map_journal ? SegmentFile::Writing::mapped : SegmentFile::Writing::by_calls;
  if (!create_journal(fresh.journal, name, settings().directory, settings().journal_max, writing)) {
    say_trouble("no journal can be written", std::strerror(errno));
    return false;
  }
  fresh.journal_number = name.n;
  return true;
}

void start(Session& fresh, const Session* parent) {
  fresh.start_ns = monotonic_ns();
  fresh.wall_ns = wall_clock_ns();
  Arena::set_budget(settings().memory_max);
  gather_process_facts(fresh.facts);
  fresh.memory_group = find_memory_group("");
  if (!open_journal(fresh)) return;
  fresh.inherited_driver =
      parent != nullptr && (parent->inherited_driver || parent->initialized.load(std::memory_order_relaxed));
  constexpr std::size_t line_capacity = 512 * 1024;
  if (const Pages buffer(line_capacity); buffer) {
    Line line(buffer.begin(), buffer.size());
    write_process(line, fresh, parent);
    fresh.usable = fresh.write(line, Journal::Importance::essential);
  }
  if (!fresh.usable) {
    fresh.journal.remove();
    say_trouble("nothing is recorded, because not even a first line fits into GPUMEM_JOURNAL_MAX",
                fresh.journal.path());
    return;
  }
  say_rejected_settings();
  say_debug("recording into", fresh.journal.path());
}

// In a forked child, whatever the parent's session held is left as it is: half-changed tables are never looked at.
Session* start_session() {
  LockGuard guard(starting);
  Session* known = current_session.load(std::memory_order_acquire);
  const std::uint32_t epoch = process_epoch();
  if (known != nullptr && known->epoch == epoch) return known;
  Pages pages(sizeof(Session));
  if (!pages) return nullptr;
  auto* fresh = new (pages.release()) Session;
  fresh->epoch = epoch;
  if (known != nullptr) forget_call_counts();
  start(*fresh, known != nullptr && known->usable ? known : nullptr);
  if (!exit_watched.exchange(true)) std::atexit([] { exiting.store(true, std::memory_order_relaxed); });
  current_session.store(fresh, std::memory_order_release);
  return fresh;
}

// Closes the journal of a process that comes to its own end.
void finish() {
  exiting.store(true, std::memory_order_relaxed);
  const Session* before = current_session.load(std::memory_order_acquire);
  // A forked child inherits what is loaded, but only what it calls itself is its own.
  if (before != nullptr ? before->epoch != process_epoch() : getpid() != loaded_in) return;
  // exit() in a signal handler may have interrupted our own work on this thread: then its locks are never released.
  const bool interrupted = own_work_running();
  OwnWork work;
  if (!interrupted) check_coverage_at_end(before != nullptr);
  Session* ended = current_session.load(std::memory_order_acquire);
  if (ended == nullptr || !ended->usable) return;
  if (!interrupted) write_last_checkpoint(*ended);
  ended->write_totals(schema::line::end,
                      interrupted ? Journal::Importance::last_words : Journal::Importance::essential);
  if (!interrupted && !ended->journal.trim())
    say_trouble("the journal has been cut or removed while it was written", ended->journal.path());
  say_farewell(*ended);
}

__attribute__((constructor)) void on_load() {
  OwnWork work;
  loaded_in = getpid();
  remember_startup_objects();
  settings();
  remember_stderr();
  if (!settings().python) decline_all_interpreters("GPUMEM_PYTHON=0");
  if (!settings().children) leave_ld_preload();
}

__attribute__((destructor)) void on_unload() { finish(); }

}  // namespace

Session* session() {
  Session* known = current_session.load(std::memory_order_acquire);
  if (known == nullptr || known->epoch != process_epoch()) known = start_session();
  return known != nullptr && known->usable ? known : nullptr;
}

Session* started_session() {
  Session* known = current_session.load(std::memory_order_acquire);
  return known != nullptr && known->epoch == process_epoch() && known->usable ? known : nullptr;
}

namespace {

std::uint64_t start_bit(int device) {
  constexpr int no_device_bit = 63;
  return std::uint64_t{1} << (device >= 0 && device < no_device_bit ? device : no_device_bit);
}

}  // namespace

bool Session::has_started(ApiId api, int device) const {
  return (started[index(api)].load(std::memory_order_relaxed) & start_bit(device)) != 0;
}

bool Session::first_start(ApiId api, int device) {
  return (started[index(api)].fetch_or(start_bit(device), std::memory_order_relaxed) & start_bit(device)) == 0;
}

namespace {

bool is_tracked(int device) { return device >= 0 && device < Session::tracked_devices; }

void set_bit(std::atomic<std::uint64_t>& bits, int device) {
  const std::uint64_t bit = is_tracked(device) ? std::uint64_t{1} << device : 0;
  if ((bits.load(std::memory_order_relaxed) & bit) != bit) bits.fetch_or(bit, std::memory_order_relaxed);
}

bool has_bit(const std::atomic<std::uint64_t>& bits, int device) {
  return is_tracked(device) && (bits.load(std::memory_order_relaxed) >> device & 1) != 0;
}

std::uint64_t sample_interval_ns() { return static_cast<std::uint64_t>(settings().sample_every) * ns_per_millisecond; }

}  // namespace

std::uint64_t Session::current_pool(int device) const {
  return is_tracked(device) ? chosen_pools[static_cast<std::size_t>(device)].load(std::memory_order_relaxed) : 0;
}

void Session::set_current_pool(int device, std::uint64_t number) {
  if (is_tracked(device)) chosen_pools[static_cast<std::size_t>(device)].store(number, std::memory_order_relaxed);
}

void Session::forget_pool(std::uint64_t number) {
  for (std::atomic<std::uint64_t>& chosen : chosen_pools) {
    std::uint64_t gone = number;
    chosen.compare_exchange_strong(gone, 0, std::memory_order_relaxed);
  }
}

void Session::note_pool_use(int device) { set_bit(pool_users, device); }
bool Session::uses_pool(int device) const { return has_bit(pool_users, device); }
void Session::note_graph_memory(int device) { set_bit(graph_memory_users, device); }
bool Session::uses_graph_memory(int device) const { return has_bit(graph_memory_users, device); }

bool Session::is_due(const std::atomic<std::uint64_t>& last_ns, std::uint64_t now_ns) const {
  const std::uint64_t every = sample_interval_ns();
  return every != 0 && now_ns >= last_ns.load(std::memory_order_relaxed) + every;
}

bool Session::first_entry(ApiId api) {
  std::atomic<bool>& known = entered[index(api)];
  return !known.load(std::memory_order_relaxed) && !known.exchange(true, std::memory_order_relaxed);
}

bool Session::first_use_of(std::uint32_t context) {
  if (context == 0 || context >= 64) return false;
  const std::uint64_t bit = std::uint64_t{1} << context;
  return (contexts_used.load(std::memory_order_relaxed) & bit) == 0 &&
         (contexts_used.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

std::uint32_t Session::thread() const { return thread_id(epoch); }

Stamp Session::stamp() const { return {monotonic_ns() - start_ns, thread()}; }

bool Session::write(const Line& line, Journal::Importance importance, std::uint32_t expected) {
  // Nobody writes to a parent's journal: a child that a signal handler forked in the middle of a call has no such
  // pages.
  const bool written = line.fits() && epoch == process_epoch() &&
                       journal.append(line.view(), importance, expected, start_ns + line.ns());
  const bool is_another_segments = expected != Journal::any_segment && journal.segment() != expected;
  if (!written && !is_another_segments) lost_lines.fetch_add(1, std::memory_order_relaxed);
  return written;
}

void Session::write_totals(std::string_view type, Journal::Importance importance) {
  constexpr std::size_t line_capacity = 256 * 1024;
  const Pages buffer(line_capacity);
  if (!buffer) return;
  Line line(buffer.begin(), buffer.size());
  gpumem::write_totals(line, *this, type);
  write(line, importance);
}

void Session::write_totals_if_due(std::uint64_t now_ns) {
  constexpr std::uint64_t first_after_samples = 10;
  const std::uint64_t every = sample_interval_ns();
  std::uint64_t known = totals_due_ns.load(std::memory_order_relaxed);
  const std::uint64_t due = known != 0 ? known : start_ns + first_after_samples * every;
  if (every == 0 || now_ns < due) return;
  const std::uint64_t age = now_ns - start_ns;
  if (totals_due_ns.compare_exchange_strong(known, now_ns + age))
    write_totals(schema::line::totals, Journal::Importance::ordinary);
}

bool process_is_exiting() { return exiting.load(std::memory_order_relaxed); }

bool Session::driver_usable() const { return !inherited_driver && !process_is_exiting(); }

}  // namespace gpumem
