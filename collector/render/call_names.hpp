// What a call stack is called in a report: the first frame of the user's own code, and the library that it lies in.
//
// Frames of CUDA's libraries, the language runtimes and the interpreter are folded away, unless nothing else is left.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "analyze/folded_frames.hpp"
#include "symbols/symbolizer.hpp"

namespace gpumem {

struct shown_frame {
  std::string module;    // file name, empty outside every module
  std::string address;   // "libfoo.so+0x1234"
  std::string function;  // empty where unknown
  std::string file;      // empty where unknown
  int line = 0;          // 0 where unknown
  bool inlined = false;
  frame_owner owner = frame_owner::user;

  // "load_weights (train.cpp:42)", or what is known of it
  std::string label() const;
};

struct call_name {
  std::string label;
  std::string through;  // the runtime function that the user's code called, where it is on the stack; else empty
  std::string library;  // file name of the code that called CUDA
  std::vector<shown_frame> frames;
  bool cut = false;
};

class call_names {
 public:
  // Both must outlive this.
  call_names(const process_analysis& process, symbolizer& symbols) : process_(process), symbols_(symbols) {}

  const call_name& of(std::uint64_t stack);

 private:
  call_name make(std::uint64_t stack);
  std::vector<shown_frame> frames_of(const stack_record& stack);
  void add_frames(std::vector<shown_frame>& to, const frame_address& frame);

  const process_analysis& process_;
  symbolizer& symbols_;
  std::map<std::uint64_t, call_name> known_;
};

// The file that a frame's module stands for.
code_file code_file_of(const module_record& module);

}  // namespace gpumem
