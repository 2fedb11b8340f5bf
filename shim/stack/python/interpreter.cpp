#include "stack/python/interpreter.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/spin_lock.hpp"

namespace gpumem {
namespace {

// What one walk of the loader's list copied out; nothing may be called under the loader's lock.
struct Exports {
  MemoryRange library;
  bool at_startup = false;
  void *this_thread_state = nullptr, *is_finalizing = nullptr, *version_text = nullptr;
  MemoryRange version, runtime, code_type, text_type, bytes_type, loop;
  bool counts_references_apart = false;  // only free-threaded builds export how
};

constexpr auto thread_state_function = "PyGILState_GetThisThreadState";

bool find_exports(Exports& out) {
  LoadedObject program;
  return any_object([&](const LoadedObject& object) {
    if (object.number == 0) program = object;
    void* thread_state = object.exported_function(thread_state_function);
    if (thread_state == nullptr) return false;
    // A program may hold a copy of a library's variable, which then is the only one in use.
    const auto variable = [&](const char* name) {
      const MemoryRange copy = program.exported_range(name);
      return copy.lo != 0 ? copy : object.exported_range(name);
    };
    out.library = {object.lo, object.hi};
    out.at_startup = was_loaded_at_startup(object);
    out.this_thread_state = thread_state;
    out.is_finalizing = object.exported_function("Py_IsFinalizing");
    if (out.is_finalizing == nullptr) out.is_finalizing = object.exported_function("_Py_IsFinalizing");
    out.version_text = object.exported_function("Py_GetVersion");
    out.version = variable("Py_Version");
    out.runtime = variable("_PyRuntime");
    out.code_type = variable("PyCode_Type");
    out.text_type = variable("PyUnicode_Type");
    out.bytes_type = variable("PyBytes_Type");
    out.loop = object.exported_range("_PyEval_EvalFrameDefault");
    out.counts_references_apart = object.exported_function("_Py_MergeZeroLocalRefcount") != nullptr;
    return true;
  });
}

template <class T>
T value_at(std::uintptr_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// Why it cannot be read; nullptr if it can.
const char* read_layout(const Exports& exports, unsigned major, unsigned minor, Interpreter& out) {
  if (exports.is_finalizing == nullptr || exports.code_type.lo == 0 || exports.text_type.lo == 0 ||
      exports.bytes_type.lo == 0)
    return "it does not export what is needed";
  bool free_threaded = false;
  if (has_debug_offsets(minor)) {
    if (exports.runtime.hi - exports.runtime.lo < sizeof(DebugOffsetsHead)) return "it has no debug offsets";
    const auto head = value_at<DebugOffsetsHead>(exports.runtime.lo);
    if (!head.is_valid() || exports.version.lo == 0 || head.version != value_at<unsigned long>(exports.version.lo))
      return "its debug offsets are not those of its version";
    free_threaded = head.free_threaded != 0;
    if (free_threaded != exports.counts_references_apart) return "it is not clear whether it is free-threaded";
  }
  const PythonLayout* layout = major == 3 ? known_layout(minor, free_threaded) : nullptr;
  out.layout.free_threaded = free_threaded;
  if (layout == nullptr) {
    std::snprintf(out.unknown_version, sizeof out.unknown_version, "Python %u.%u is not known", major, minor);
    return out.unknown_version;
  }
  out.layout = *layout;
  if (has_debug_offsets(minor) && !take_debug_offsets(exports.runtime.lo, out.layout))
    return "its debug offsets make no sense";
  return nullptr;
}

const char* describe(const Exports& exports, const char* text, Interpreter& out) {
  const std::size_t length = std::strcspn(text, " ");
  std::snprintf(out.version, sizeof out.version, "%.*s", static_cast<int>(length), text);
  char* after = nullptr;
  const unsigned long major = std::strtoul(text, &after, 10);
  const unsigned long minor = *after == '.' ? std::strtoul(after + 1, nullptr, 10) : 0;
  out.this_thread_state = reinterpret_cast<void* (*)()>(exports.this_thread_state);
  out.is_finalizing = reinterpret_cast<int (*)()>(exports.is_finalizing);
  out.code_type = exports.code_type.lo;
  out.text_type = exports.text_type.lo;
  out.bytes_type = exports.bytes_type.lo;
  out.loop = exports.loop;
  out.library = exports.library;
  return read_layout(exports, static_cast<unsigned>(major), static_cast<unsigned>(minor), out);
}

// Interpreters are never forgotten, for another thread may be reading by one; few processes ever see a second.
constexpr unsigned most_interpreters = 8;
constinit Interpreter interpreters[most_interpreters];
constinit unsigned interpreter_count = 0;
constinit SpinLock finding;
constinit std::atomic<Interpreter*> current{nullptr};
constinit std::atomic<bool> stays{false};  // the program was started with it
constinit std::atomic<std::uint64_t> seen_added{~std::uint64_t{0}}, seen_removed{0};
constinit std::atomic<const char*> all_declined{nullptr};
constinit std::atomic<unsigned> news{0};

void publish(const Exports& exports) {
  const char* version =
      exports.version_text != nullptr ? reinterpret_cast<const char* (*)()>(exports.version_text)() : "";
  LockGuard guard(finding);
  const Interpreter* known = current.load(std::memory_order_relaxed);
  if (known != nullptr && known->library.lo == exports.library.lo && known->library.hi == exports.library.hi) return;
  if (interpreter_count == most_interpreters) {
    current.store(nullptr, std::memory_order_release);
    return;
  }
  Interpreter& found = interpreters[interpreter_count++];
  const char* reason = describe(exports, version, found);
  if (reason == nullptr) reason = all_declined.load(std::memory_order_relaxed);
  found.declined.store(reason, std::memory_order_relaxed);
  current.store(&found, std::memory_order_release);
  stays.store(exports.at_startup, std::memory_order_release);
  news.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Interpreter* known_interpreter() { return current.load(std::memory_order_acquire); }

Interpreter* find_interpreter() {
  if (stays.load(std::memory_order_acquire)) return known_interpreter();
  const LoadCounters now = load_counters();
  if (now.added == seen_added.load(std::memory_order_relaxed) &&
      now.removed == seen_removed.load(std::memory_order_relaxed))
    return known_interpreter();
  Exports exports;
  if (find_exports(exports)) {
    publish(exports);
  } else {
    current.store(nullptr, std::memory_order_release);
  }
  seen_added.store(now.added, std::memory_order_relaxed);
  seen_removed.store(now.removed, std::memory_order_relaxed);
  return known_interpreter();
}

void decline(Interpreter& interpreter, const char* reason) {
  const char* none = nullptr;
  if (interpreter.declined.compare_exchange_strong(none, reason)) news.fetch_add(1, std::memory_order_relaxed);
}

void decline_all_interpreters(const char* reason) { all_declined.store(reason, std::memory_order_relaxed); }

unsigned interpreter_news() { return news.load(std::memory_order_relaxed); }

}  // namespace gpumem
