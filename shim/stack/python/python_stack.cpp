#include "stack/python/python_stack.hpp"

#include <atomic>
#include <cerrno>

#include "stack/python/thread_memory.hpp"

namespace gpumem {
namespace {

// While a process is on probation, every pointer is tried before it is followed, and one thing amiss ends the reading
// for good: then the version is not what it seems. Later a single stack may be amiss.
constexpr unsigned probation = 256, most_refused = 16;
constinit std::atomic<unsigned> readings{0}, refused{0};

bool on_probation() {
  return readings.load(std::memory_order_relaxed) < probation &&
         readings.fetch_add(1, std::memory_order_relaxed) < probation;
}

class ErrnoKeeper {
 public:
  ~ErrnoKeeper() { errno = before_; }

 private:
  const int before_ = errno;
};

PythonReading refuse(Interpreter& interpreter, bool early, const char* trouble) {
  if (early) {
    decline(interpreter, trouble);
  } else if (refused.fetch_add(1, std::memory_order_relaxed) >= most_refused) {
    decline(interpreter, "too many stacks were refused");
  }
  return {PythonState::refused};
}

PythonReading read_frames(Interpreter& interpreter, std::uintptr_t thread_state, PlaceTable& places) {
  const ErrnoKeeper keeper;
  ThreadMemory* memory = thread_memory();
  if (memory == nullptr) return {PythonState::cut};
  auto& [chain, stack, words, cache] = *memory;
  const bool early = on_probation();
  const char* trouble = read_frame_chain(interpreter, thread_state, early, chain);
  stack.count = 0;
  while (trouble == nullptr && stack.count < chain.count) {
    CodePlace* place = cache.place_of(interpreter, chain.frames[stack.count], early, places, trouble);
    if (place == nullptr) break;
    stack.places[stack.count++] = place;
  }
  if (trouble != nullptr) return refuse(interpreter, early, trouble);
  if (chain.count == 0) return {PythonState::none};
  stack.group_count = 0;
  for (; stack.group_count < chain.group_count; ++stack.group_count) {
    FrameGroup group = chain.groups[stack.group_count];
    if (group.first >= stack.count) break;
    if (group.first + group.count > stack.count) group.count = static_cast<std::uint16_t>(stack.count - group.first);
    stack.groups[stack.group_count] = group;
  }
  const bool whole = !chain.cut && stack.count == chain.count;
  return {whole ? PythonState::read : PythonState::cut, &stack, words};
}

}  // namespace

PythonReading read_python_stack(PlaceTable& places, bool native_is_known) {
  Interpreter* interpreter = native_is_known ? known_interpreter() : find_interpreter();
  if (interpreter == nullptr) return {PythonState::absent};
  if (interpreter->declined.load(std::memory_order_acquire) != nullptr) return {PythonState::declined};
  // A thread that Python has given up may still have the address of its state, which is gone.
  if (interpreter->is_finalizing() != 0) return {PythonState::finalizing};
  void* thread_state = interpreter->this_thread_state();
  if (thread_state == nullptr) return {PythonState::none};
  return read_frames(*interpreter, reinterpret_cast<std::uintptr_t>(thread_state), places);
}

}  // namespace gpumem
