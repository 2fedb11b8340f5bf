// The Python interpreter of this process: which one, where its functions are, and whether its stacks are read.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/loaded_objects.hpp"
#include "stack/python/layouts.hpp"

namespace gpumem {

struct Interpreter {
  PythonLayout layout;
  void* (*this_thread_state)() = nullptr;  // takes no lock, needs no GIL
  int (*is_finalizing)() = nullptr;
  std::uintptr_t code_type = 0, text_type = 0, bytes_type = 0;
  MemoryRange loop;     // _PyEval_EvalFrameDefault
  MemoryRange library;  // the file that it lies in
  char version[24] = "";
  char unknown_version[40] = "";
  std::atomic<const char*> declined{nullptr};  // why its stacks are not read, or no longer
};

// nullptr where there is none. Walks the loader's list where it has changed, unless the program was started with its
// interpreter.
Interpreter* find_interpreter();

// The one that was found last.
Interpreter* known_interpreter();

// From now on its stacks are not read. The first reason stays. `reason` lives for ever.
void decline(Interpreter& interpreter, const char* reason);
// The same for every interpreter that will be found.
void decline_all_interpreters(const char* reason);

// Grows when an interpreter is found or declined.
unsigned interpreter_news();

}  // namespace gpumem
