// Marks and ranges that the program sets by NVTX, as lines of the journal: they say where in the program a peak or a
// leak is.
//
// NVTX, which is compiled into whoever uses it, loads the file that NVTX_INJECTION64_PATH names and calls
// InitializeInjectionNvtx2() once for each copy of itself. Without that variable its functions do nothing.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "api/nvtx_interface.hpp"
#include "base/own_work.hpp"
#include "intercept/call.hpp"
#include "journal/schema.hpp"
#include "session.hpp"

namespace gpumem {
namespace {

constexpr unsigned most_a_second = 20;
constexpr int deepest = 2;  // ranges inside so many others are not told: frameworks put one around every operation
constexpr std::size_t longest_text = 200;

// What the thread's open ranges are.
struct OpenRanges {
  int depth = 0;
  bool told[deepest] = {};
};
thread_local constinit OpenRanges ranges;

bool may_tell(Session& session, std::uint64_t ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr unsigned bits_of_count = 16;
  const std::uint64_t now = ns / second;
  std::uint64_t seen = session.marks_in_second.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t count = seen >> bits_of_count == now ? seen & ((1u << bits_of_count) - 1) : 0;
    if (count == most_a_second) break;
    if (session.marks_in_second.compare_exchange_weak(seen, now << bits_of_count | (count + 1),
                                                      std::memory_order_relaxed))
      return true;
  }
  session.lost_marks.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// Characters of UTF-8 are not cut in two.
std::string_view beginning_of(std::string_view text) {
  if (text.size() <= longest_text) return text;
  std::size_t size = longest_text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return {text.data(), size};
}

void write_mark(Session& session, Stamp stamp, std::string_view text, int depth, bool ends) {
  char buffer[2048];
  Line line(buffer, sizeof buffer);
  line.open(schema::line::mark, stamp.ns, stamp.tid);
  line.word("from", "nvtx");
  if (ends) {
    line.truth("end", true);
  } else {
    line.text("text", beginning_of(text));
  }
  if (depth >= 0) line.signed_number("depth", depth);
  if (const std::uint64_t lost = session.lost_marks.exchange(0, std::memory_order_relaxed))
    line.number("left_out", lost);
  line.close();
  session.write(line);
}

// `depth`: of the range that begins; negative where none does.
bool tell(std::string_view text, int depth) {
  if (text.empty() || own_work_running()) return false;
  OwnWork work;
  Session* session = started_session();
  if (session == nullptr) return false;
  const Stamp stamp = session->stamp();
  if (!may_tell(*session, stamp.ns)) return false;
  write_mark(*session, stamp, text, depth, false);
  return true;
}

std::string_view text_of(const char* text) { return text != nullptr ? std::string_view(text) : std::string_view{}; }

std::string_view text_of(const nvtx::Attributes* attributes) {
  if (attributes == nullptr || attributes->size < sizeof(nvtx::Attributes)) return {};
  const bool has_text =
      attributes->message_type == nvtx::message_ascii || attributes->message_type == nvtx::message_registered;
  return has_text ? text_of(static_cast<const char*>(attributes->message)) : std::string_view{};
}

void begin_range(std::string_view text) {
  const int depth = ranges.depth++;
  if (depth >= 0 && depth < deepest) ranges.told[depth] = tell(text, depth);
}

void end_range() {
  if (ranges.depth == 0) return;
  const int depth = --ranges.depth;
  if (depth >= deepest || !ranges.told[depth] || own_work_running()) return;
  OwnWork work;
  if (Session* session = started_session()) write_mark(*session, session->stamp(), {}, depth, true);
}

// What the functions return is what they return where no tool is there.
constexpr int no_tracking = -2;

void mark(const char* text) { tell(text_of(text), -1); }
void mark_with(const nvtx::Attributes* attributes) { tell(text_of(attributes), -1); }
void domain_mark_with(void*, const nvtx::Attributes* attributes) { tell(text_of(attributes), -1); }

int push(const char* text) { return begin_range(text_of(text)), no_tracking; }
int push_with(const nvtx::Attributes* attributes) { return begin_range(text_of(attributes)), no_tracking; }
int domain_push_with(void*, const nvtx::Attributes* attributes) { return push_with(attributes); }
int pop() { return end_range(), no_tracking; }
int domain_pop(void*) { return pop(); }

// Ranges that another thread may end: their beginning is a mark.
std::uint64_t start(const char* text) { return mark(text), 0; }
std::uint64_t start_with(const nvtx::Attributes* attributes) { return mark_with(attributes), 0; }
std::uint64_t domain_start_with(void*, const nvtx::Attributes* attributes) { return mark_with(attributes), 0; }

// Handles of strings are the strings, which live as long as the process. Without memory they are those of no tool.
void* register_string(void*, const char* text) {
  static constinit SpinLock lock;
  static constinit Arena arena;
  if (text == nullptr) return nullptr;
  OwnWork work;
  LockGuard guard(lock);
  const std::size_t size = std::strlen(text) + 1;
  void* copy = arena.take(size);
  return copy != nullptr ? std::memcpy(copy, text, size) : nullptr;
}

template <class Function>
void put(nvtx::FunctionTable table, unsigned size, unsigned index, Function* function) {
  if (index < size && table[index] != nullptr) *table[index] = reinterpret_cast<nvtx::Function>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx::GetExportTable get_export_table) {
  if (interception_disabled() || get_export_table == nullptr) return 0;
  const auto* callbacks = static_cast<const nvtx::Callbacks*>(get_export_table(nvtx::callbacks_table));
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->size < sizeof *callbacks) return 0;
  if (callbacks->get_module_function_table(nvtx::module_core, &table, &size) != 0) {
    put(table, size, nvtx::mark_ex, mark_with);
    put(table, size, nvtx::mark_ascii, mark);
    put(table, size, nvtx::range_start_ex, start_with);
    put(table, size, nvtx::range_start_ascii, start);
    put(table, size, nvtx::range_push_ex, push_with);
    put(table, size, nvtx::range_push_ascii, push);
    put(table, size, nvtx::range_pop, pop);
  }
  if (callbacks->get_module_function_table(nvtx::module_core2, &table, &size) != 0) {
    put(table, size, nvtx::domain_mark_ex, domain_mark_with);
    put(table, size, nvtx::domain_range_start_ex, domain_start_with);
    put(table, size, nvtx::domain_range_push_ex, domain_push_with);
    put(table, size, nvtx::domain_range_pop, domain_pop);
    put(table, size, nvtx::domain_register_string_ascii, register_string);
  }
  return 1;
}

}  // namespace gpumem
