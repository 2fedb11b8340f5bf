#include "stack_lines.hpp"

#include <algorithm>
#include <new>

#include "api/settings.hpp"
#include "base/pages.hpp"
#include "intercept/real_dlsym.hpp"
#include "journal/records.hpp"
#include "journal/schema.hpp"
#include "long_line.hpp"
#include "module_lines.hpp"
#include "stack/merged_stack.hpp"
#include "stack/python/interpreter.hpp"
#include "stack/python/line_tables.hpp"
#include "stack/unwinder.hpp"

namespace gpumem {
namespace {

std::string_view name_of(PythonState state) {
  switch (state) {
    case PythonState::cut: return schema::python::cut;
    case PythonState::finalizing: return schema::python::finalizing;
    case PythonState::refused: return schema::python::refused;
    case PythonState::declined: return schema::python::declined;
    default: return {};
  }
}

bool write_place_once(Session& session, CodePlace& place, std::uint32_t segment) {
  if (is_in_segment(place.written_in, segment)) return true;
  const Stamp stamp = session.stamp();
  LongLine line(session);
  write_python(line, stamp,
               {place.number, place.file(), place.line != no_line, static_cast<unsigned>(place.line), place.name()});
  return write_once_in_segment(session, line, segment, place.written_in);
}

// The file that this frame lay in when the stack was taken.
Module* module_of(Session& session, const Stack& stack, std::uint32_t frame) {
  return session.modules.find(reinterpret_cast<std::uintptr_t>(stack.frames[frame]), stack.generation);
}

bool write_what_it_needs(Session& session, const Stack& stack, std::uint32_t segment) {
  bool all = true;
  for (std::uint32_t i = 0; i < stack.depth && all; ++i) {
    if (CodePlace* place = place_in_word(stack.frames[i])) {
      all = write_place_once(session, *place, segment);
    } else if (Module* module = module_of(session, stack, i)) {
      all = write_module_once(session, *module, segment);
    }
  }
  return all;
}

bool write_stack_line(Session& session, Stack& stack, std::uint32_t segment) {
  const Stamp stamp = session.stamp();
  LongLine line(session);
  line.open(schema::line::stack, stamp.ns, stamp.tid);
  line.number("id", stack.number);
  line.key("f");
  line.put("[");
  PythonState no_python = PythonState::absent;
  for (std::uint32_t i = 0; i < stack.depth; ++i) {
    if (const PythonState state = state_in_word(stack.frames[i]); state != PythonState::absent) {
      no_python = state;
      continue;
    }
    line.separate();
    if (const CodePlace* place = place_in_word(stack.frames[i])) {
      line.python_frame(place->number);
      continue;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(stack.frames[i]);
    const Module* module = module_of(session, stack, i);
    line.frame(module != nullptr ? module->number : 0, module != nullptr ? address - module->base : address);
  }
  line.put("]");
  if (stack.cut.load(std::memory_order_relaxed)) line.truth("cut", true);
  if (no_python != PythonState::absent) line.word("py", name_of(no_python));
  line.close();
  return write_once_in_segment(session, line, segment, stack.written_in);
}

// Changes when a library has really gone: most dlcloses only drop a reference.
std::uint32_t load_generation() {
  static constinit std::atomic<unsigned> seen_unloads{0};
  static constinit std::atomic<std::uint32_t> removed{0};
  const unsigned unloads = unload_count();
  if (seen_unloads.load(std::memory_order_acquire) != unloads) {
    removed.store(static_cast<std::uint32_t>(load_counters().removed), std::memory_order_relaxed);
    seen_unloads.store(unloads, std::memory_order_release);
  }
  return removed.load(std::memory_order_relaxed);
}

// When the interpreter is first seen, and when its state changes.
void write_interpreter_if_new(Session& session) {
  const unsigned news = interpreter_news();
  if (session.interpreter_news.load(std::memory_order_relaxed) == news) return;
  const Interpreter* python = known_interpreter();
  if (python == nullptr || session.interpreter_news.exchange(news, std::memory_order_relaxed) == news) return;
  session.modules.update();
  const Module* module = session.modules.find(python->library.lo);
  const char* declined = python->declined.load(std::memory_order_acquire);
  const Stamp stamp = session.stamp();
  LongLine line(session);
  write_interpreter(line, stamp,
                    {python->version, module != nullptr ? module->path : "", python->layout.free_threaded,
                     declined != nullptr ? declined : ""});
  session.standing.add(line.view());
  session.write(line);
}

// Where Boost says otherwise, Boost is right. It is asked in memory of its own: a thread's stack can be small.
void verify(Session& session, const StackRequest& request, StackCapture& captured) {
  const Pages pages(sizeof(StackCapture));
  if (!pages) return;
  auto& reference = *new (pages.begin()) StackCapture;
  capture_with_boost(request, reference);
  session.stacks_checked.fetch_add(1, std::memory_order_relaxed);
  if (std::equal(captured.addresses, captured.addresses + captured.depth, reference.addresses,
                 reference.addresses + reference.depth))
    return;
  session.stacks_wrong.fetch_add(1, std::memory_order_relaxed);
  capture_with_boost(request, captured);
}

void capture_here(Session& session, const StackRequest& request, StackCapture& captured) {
  capture_stack(request, captured);
  session.stacks_by[static_cast<unsigned>(captured.source)].fetch_add(1, std::memory_order_relaxed);
  if (settings().verify_stacks && captured.source != StackSource::fallback) verify(session, request, captured);
}

MemoryRange interpreter_loop(const PythonReading& python) {
  return python.stack != nullptr ? known_interpreter()->loop : MemoryRange{};
}

// A stack without Python frames is known by the note that was left with the native one.
Stack* interned(Session& session, const NativeStack& native, const PythonReading& python, StackCapture& captured,
                std::uint32_t generation) {
  if (!adds_words(python)) {
    if (captured.note != nullptr && *captured.note != nullptr) return static_cast<Stack*>(*captured.note);
    Stack* stack = session.stacks.intern(native.frames, native.count, generation);
    if (captured.note != nullptr) *captured.note = stack;
    return stack;
  }
  void** words = python.stack != nullptr ? python.words : captured.own_addresses;
  const unsigned count = merge_stacks(native, python, interpreter_loop(python), words);
  return session.stacks.intern(words, count, generation);
}

}  // namespace

std::uint32_t stack_here(Session& session) {
  const unsigned depth = settings().stack_depth;
  if (depth == 0) return 0;
  const UnwinderChoice unwinder = settings().unwinder.choice;
  StackRequest request{.capacity = depth < max_frames ? depth + 1 : max_frames};
  request.by_rules = unwinder != UnwinderChoice::boost;
  request.by_memory = !unload_running();
  request.by_memo = unwinder == UnwinderChoice::automatic;
  request.generation = load_generation();
  StackCapture captured;
  capture_here(session, request, captured);
  const PythonReading python = read_python_stack(session.places, captured.source == StackSource::memo);
  session.python_stacks[static_cast<std::size_t>(python.state)].fetch_add(1, std::memory_order_relaxed);
  write_interpreter_if_new(session);
  const bool cut = captured.depth > depth;
  const NativeStack native{captured.addresses, captured.ends, cut ? depth : captured.depth, cut};
  Stack* stack = interned(session, native, python, captured, request.generation);
  if (stack == nullptr) {
    session.lost_stacks.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  // Before it is written for the first time: later it is known already.
  if (cut) stack->cut.store(true, std::memory_order_relaxed);
  return stack->number;
}

bool write_stack_once(Session& session, std::uint32_t number, std::uint32_t segment) {
  Stack* stack = session.stacks.at(number);
  if (stack == nullptr) return false;
  if (is_in_segment(stack->written_in, segment)) return true;
  session.modules.update();
  return write_what_it_needs(session, *stack, segment) && write_stack_line(session, *stack, segment);
}

}  // namespace gpumem
