// What a call stack is called in a report: the first frame of the user's own code, and the library that it lies in.
//
// Frames of frameworks, CUDA's libraries, the language runtimes and the interpreter are folded away, unless nothing
// else is left.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "analyze/frame_rules.hpp"
#include "symbols/symbolizer.hpp"

namespace gpumem {

struct ShownFrame {
  std::string module;    // file name, also of Python code; empty outside every module
  std::string address;   // "libfoo.so+0x1234"
  std::string function;  // empty where unknown
  std::string file;      // empty where unknown
  int line = 0;          // 0 where unknown
  bool inlined = false;
  bool python = false;
  FrameOwner owner = FrameOwner::user;

  // "load_weights (train.cpp:42)", or what is known of it
  std::string label() const;

  // "load_weights(int)  /src/train.cpp:42"; without its parameters where it would be longer than `most` characters
  std::string line_text(std::size_t most) const;
};

// A line of a stack as the text reports show it unless all frames are wanted.
struct ShownLine {
  std::string text;
  std::string label;       // as of the frame
  std::string short_name;  // only the function, where it is known
};

struct CallName {
  std::string label;
  std::string through;  // the runtime function that the user's code called, where it is on the stack; else empty
  std::string library;  // file name of the code that called CUDA: the first above it, be it a framework's
  std::vector<ShownFrame> frames;
  std::vector<ShownLine> shown;
  bool cut = false;

  // Whether a frame is shown where not all are wanted: the user's own; where there are none, frameworks' and
  // allocators'; where there are none of these either, whatever is no interpreter.
  bool shows(const ShownFrame& frame) const;
  std::string shown_text() const;  // the same for stacks that look the same

 private:
  friend class CallNames;
  void choose_what_to_show();
  enum class Shown { user, installed, any } level_ = Shown::any;
};

class CallNames {
 public:
  // All must outlive this.
  CallNames(const ProcessAnalysis& process, Symbolizer& symbols, const FrameRules& rules = FrameRules::built_in())
      : process_(process), symbols_(symbols), rules_(rules) {}

  const CallName& of(std::uint64_t stack);

  // Of a stack in another process's journal. At least one frame.
  CallName of_frames(const Modules& all, const PythonPlaces& places, const std::vector<Frame>& frames, bool cut);

  // Why the user's own frames among these have no names: "/opt/x.so: the file is missing", each file once.
  std::vector<std::string> troubles(const std::vector<std::uint64_t>& stacks);

 private:
  CallName make(std::uint64_t stack);
  ShownFrame python_frame(const PythonPlaces& places, std::uint64_t id) const;
  void add_frames(std::vector<ShownFrame>& to, const Modules& all, const Frame& frame);

  const ProcessAnalysis& process_;
  Symbolizer& symbols_;
  const FrameRules& rules_;
  std::map<std::uint64_t, CallName> known_;
};

// The file that a frame's module stands for.
CodeFile code_file_of(const ModuleRecord& module);

}  // namespace gpumem
