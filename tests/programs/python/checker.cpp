// The shim's reading of Python stacks, for programs in Python that know better what the answer must be.
#include <dlfcn.h>
#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/arena.hpp"
#include "stack/merged_stack.hpp"
#include "stack/python/code_object.hpp"
#include "stack/python/python_stack.hpp"
#include "stack/unwinder.hpp"

using namespace gpumem;

namespace {

PlaceTable places;
std::atomic<long> readings[python_state_count];

constexpr int slept_and_differed = -100, errno_changed = -101;

PythonReading read() {
  errno = 12345;
  const PythonReading reading = read_python_stack(places);
  readings[static_cast<int>(reading.state)].fetch_add(1);
  return reading;
}

std::vector<CodePlace*> places_of(const PythonReading& reading) {
  return reading.stack != nullptr ? std::vector(reading.stack->places, reading.stack->places + reading.stack->count)
                                  : std::vector<CodePlace*>();
}

// PEP 523, from 3.9 on.
using FrameEvaluator = void* (*)(void* thread, void* frame, int throws);
FrameEvaluator default_evaluator = nullptr;
std::atomic<long> evaluated{0};

void* evaluate_apart(void* thread, void* frame, int throws) {
  evaluated.fetch_add(1);
  void* result = default_evaluator(thread, frame, throws);
  asm volatile("" : : "r"(result) : "memory");  // not a call at the end: this function stays on the stack
  return result;
}

std::uint32_t next_random(std::uint32_t& seed) {
  seed = seed * 1103515245u + 12345u;
  return seed >> 16 & 0x7fff;
}

}  // namespace

extern "C" {
int checker_begin() {
  Arena::set_budget(std::size_t{1} << 30);
  return find_interpreter() != nullptr;
}

const char* checker_version() { return find_interpreter()->version; }
const char* checker_declined() {
  const char* reason = find_interpreter()->declined.load();
  return reason != nullptr ? reason : "";
}

// "file:line:name\n" for each frame. Returns how many, or minus the state where there is none. With `twice`, reads
// again a little later, which must give the same.
int checker_stack(char* text, int capacity, int twice) {
  const PythonReading reading = read();
  if (errno != 12345) return errno_changed;
  const std::vector<CodePlace*> found = places_of(reading);
  if (twice != 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (places_of(read()) != found) return slept_and_differed;
  }
  std::string out;
  for (const CodePlace* place : found)
    out.append(place->file()).append(":").append(std::to_string(place->line)).append(":").append(place->name()) += '\n';
  std::snprintf(text, static_cast<std::size_t>(capacity), "%s", out.c_str());
  return found.empty() ? -static_cast<int>(reading.state) : static_cast<int>(found.size());
}

// The same text of the merged stack, with "-\n" for native frames and "*\n" for those of the interpreter's loop, by
// which Python frames are placed only where there is no other way. CHECKER_BY_LIBGCC: native frames are libgcc's.
int checker_merged(char* text, int capacity) {
  const PythonReading reading = read();
  StackCapture native;
  static const bool by_rules = std::getenv("CHECKER_BY_LIBGCC") == nullptr;
  capture_stack({.by_rules = by_rules}, native);
  const MemoryRange loop = find_interpreter()->loop;
  const bool has_anchors = find_interpreter()->layout.chain != FrameChainKind::frame_objects;
  std::vector<void*> words(native.depth + max_python_frames + extra_words);
  const NativeStack frames{native.addresses, native.ends, native.depth, native.depth == max_frames};
  const unsigned count = merge_stacks(frames, reading, has_anchors ? MemoryRange{} : loop, words.data());
  std::string out;
  for (unsigned i = 0; i < count; ++i) {
    if (const CodePlace* place = place_in_word(words[i])) {
      out.append(place->file()).append(":").append(std::to_string(place->line)).append(":").append(place->name()) +=
          '\n';
    } else if (state_in_word(words[i]) == PythonState::absent) {
      out += loop.contains(reinterpret_cast<std::uintptr_t>(words[i]) - 1) ? "*\n" : "-\n";
    }
  }
  std::snprintf(text, static_cast<std::size_t>(capacity), "%s", out.c_str());
  return static_cast<int>(count);
}

// Readings with wrong offsets, every pointer probed. Returns how many gave frames all the same.
int checker_fuzz(unsigned seed, int rounds) {
  Interpreter& interpreter = *find_interpreter();
  const PythonLayout right = interpreter.layout;
  const auto thread = reinterpret_cast<std::uintptr_t>(interpreter.this_thread_state());
  static FrameChain chain;
  int frames = 0;
  for (int round = 0; round < rounds; ++round) {
    PythonLayout& wrong = interpreter.layout;
    wrong = right;
    std::uint16_t* const fields[] = {&wrong.thread.frame,         &wrong.cframe.frame,   &wrong.cframe.previous,
                                     &wrong.frame.code,           &wrong.frame.previous, &wrong.frame.instruction,
                                     &wrong.frame.owner,          &wrong.code.file,      &wrong.code.name,
                                     &wrong.code.first_line,      &wrong.code.lines,     &wrong.code.instructions,
                                     &wrong.code.first_traceable, &wrong.text.state,     &wrong.text.length,
                                     &wrong.object.bytes_size,    &wrong.object.type};
    for (unsigned hits = 1 + next_random(seed) % 3; hits > 0; --hits)
      *fields[next_random(seed) % std::size(fields)] = static_cast<std::uint16_t>(next_random(seed) % 80);
    if (read_frame_chain(interpreter, thread, true, chain) != nullptr) continue;
    bool all_known = chain.count != 0;
    for (unsigned i = 0; i < chain.count; ++i) {
      CodeHead head;
      CodeContents contents;
      all_known &= examine_code(interpreter, chain.frames[i].code, head, contents) == nullptr;
    }
    frames += all_known;
  }
  interpreter.layout = right;
  return frames;
}

// From now on every thread has the same state: the calling thread's by its number, but for `of_another`, and all of its
// pointers lead nowhere.
void checker_break(int of_another) {
  static std::uintptr_t state[64];
  void* nowhere = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::fill(std::begin(state), std::end(state), reinterpret_cast<std::uintptr_t>(nowhere));
  Interpreter& interpreter = *find_interpreter();
  state[interpreter.layout.thread.id / sizeof *state] = pthread_self() + (of_another != 0);
  interpreter.this_thread_state = []() -> void* { return state; };
}

// Reads all the time, for so long, in C.
void checker_hammer(int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) read();
}

// From now on another function, or none, runs Python's frames. Needs the GIL.
void checker_evaluate_frames(int apart) {
  const auto function = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  default_evaluator = reinterpret_cast<FrameEvaluator>(function("_PyEval_EvalFrameDefault"));
  const auto interpreter = reinterpret_cast<void* (*)()>(function("PyInterpreterState_Get"));
  const auto set = reinterpret_cast<void (*)(void*, FrameEvaluator)>(function("_PyInterpreterState_SetEvalFrameFunc"));
  set(interpreter(), apart != 0 ? evaluate_apart : default_evaluator);
}

long checker_evaluated() { return evaluated.load(); }

long checker_readings(int state) { return readings[state].load(); }

// What a thread that Python has never seen gets.
int checker_foreign_thread() {
  int state = -1;
  std::thread([&state] { state = static_cast<int>(read().state); }).join();
  return state;
}

// Nanoseconds of a reading: the median of so many.
double checker_median(int count) {
  std::vector<double> each;
  for (int i = 0; i < count; ++i) {
    constexpr int batch = 100;
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < batch; ++j) read_python_stack(places);
    each.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / batch);
  }
  std::nth_element(each.begin(), each.begin() + count / 2, each.end());
  return each[static_cast<std::size_t>(count / 2)];
}
}

namespace {

__attribute__((destructor)) void report() {
  if (std::getenv("CHECKER_REPORT") == nullptr) return;
  std::fprintf(stderr, "read %ld finalizing %ld refused %ld declined %ld\n", readings[2].load(), readings[4].load(),
               readings[5].load(), readings[6].load());
}

}  // namespace
