#include "render/call_names.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "render/text_page.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// A function's name without its parameters; "(anonymous namespace)" and "operator()" are no parameter lists.
std::string without_parameters(const std::string& name) {
  for (std::size_t at = name.find('('); at != std::string::npos; at = name.find('(', at + 1)) {
    if (name.compare(at, 21, "(anonymous namespace)") == 0) continue;
    if (at >= 8 && name.compare(at - 8, 8, "operator") == 0 && name.compare(at, 2, "()") == 0) continue;
    return name.substr(0, at);
  }
  return name;
}

template <class Found>
const ShownFrame* first(const std::vector<ShownFrame>& frames, Found found) {
  const auto at = std::find_if(frames.begin(), frames.end(), found);
  return at == frames.end() ? nullptr : &*at;
}

bool is_installed(const ShownFrame& frame) {
  return frame.owner == FrameOwner::framework || frame.owner == FrameOwner::allocator;
}

// Stripped inner functions of a static runtime lie in the user's file, below the runtime's named entry points.
void fold_unnamed_inside_runtime(std::vector<ShownFrame>& frames) {
  bool inside = false;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (frame->owner == FrameOwner::cuda) inside = true;
    if (frame->owner == FrameOwner::user && !frame->function.empty()) inside = false;
    if (frame->owner == FrameOwner::user && frame->function.empty() && inside) frame->owner = FrameOwner::cuda;
  }
}

}  // namespace

CodeFile code_file_of(const ModuleRecord& module) { return {module.path.value_or(""), module.build_id.value_or("")}; }

std::string ShownFrame::label() const {
  const std::string place = file.empty() ? module : file_name(file) + (line > 0 ? ":" + std::to_string(line) : "");
  if (function.empty()) return address;
  return without_parameters(function) + (place.empty() ? "" : " (" + place + ")");
}

std::string ShownFrame::line_text(std::size_t most) const {
  if (function.empty()) return address;
  const std::string place = file.empty() ? address : file + (line > 0 ? ":" + std::to_string(line) : "");
  const std::string rest = "  " + place + (inlined ? "  (inlined)" : "");
  if (character_count(function) + character_count(rest) <= most) return function + rest;
  const std::string bare = without_parameters(function);
  return bare + (bare.size() < function.size() ? "(…)" : "") + rest;
}

bool CallName::shows(const ShownFrame& frame) const {
  switch (level_) {
    case Shown::user: return frame.owner == FrameOwner::user;
    case Shown::installed: return is_installed(frame);
    case Shown::any: return frame.owner != FrameOwner::interpreter;
  }
  return true;
}

void CallName::choose_what_to_show() {
  const auto has = [&](Shown level) {
    level_ = level;
    return first(frames, [&](const ShownFrame& frame) { return shows(frame); }) != nullptr;
  };
  if (!has(Shown::user) && !has(Shown::installed)) level_ = Shown::any;
  for (const auto& frame : frames) {
    if (!shows(frame)) continue;
    shown.push_back({frame.line_text(std::string::npos), frame.label(),
                     frame.function.empty() ? frame.address : without_parameters(frame.function)});
  }
}

std::string CallName::shown_text() const {
  if (shown.empty()) return label;
  std::string text;
  for (const auto& each : shown) text += each.text + '\n';
  return text;
}

std::vector<std::string> CallNames::troubles(const std::vector<std::uint64_t>& stacks) {
  std::set<std::string> files;
  for (const auto id : stacks) {
    of(id);
    const StackRecord* stack = process_.stack(id);
    if (!stack) continue;
    for (const auto& frame : stack->frames) {
      const auto module = process_.all_modules.find(frame.module);
      if (module == process_.all_modules.end()) continue;
      const CodeFile file = code_file_of(module->second);
      const bool is_user = rules_.of_module(file.path, module->second.role.value_or("")) == FrameOwner::user;
      if (const auto trouble = symbols_.trouble_of(file); is_user && !trouble.empty()) files.insert(trouble);
    }
  }
  return {files.begin(), files.end()};
}

ShownFrame CallNames::python_frame(const PythonPlaces& places, std::uint64_t id) const {
  ShownFrame shown;
  shown.python = true;
  const auto place = places.find(id);
  if (place == places.end()) {
    shown.address = "(a place in Python code that is not in the journal)";
    return shown;
  }
  shown.file = printable(place->second.file);
  shown.module = file_name(shown.file);
  shown.function = printable(place->second.name.empty() ? "?" : place->second.name);
  shown.line = static_cast<int>(place->second.line.value_or(0));
  shown.owner = rules_.of_python(place->second.file);
  return shown;
}

void CallNames::add_frames(std::vector<ShownFrame>& to, const Modules& all, const Frame& frame) {
  const auto module = all.find(frame.module);
  if (module == all.end()) {
    ShownFrame unknown;
    unknown.address = hex(frame.offset);
    to.push_back(std::move(unknown));
    return;
  }
  const CodeFile file = code_file_of(module->second);
  const std::string role = module->second.role.value_or("");
  const FrameOwner owner = rules_.of_module(file.path, role);
  ShownFrame shown;
  shown.module = printable(file_name(file.path));
  shown.address = shown.module + "+" + hex(frame.offset);
  const NamedFrames& names = symbols_.resolve(file, frame.offset);
  for (std::size_t i = 0; i < names.size(); ++i) {
    shown.function = printable(names[i].function.value_or(""));
    shown.file = printable(names[i].file.value_or(""));
    shown.line = names[i].line.value_or(0);
    shown.inlined = i + 1 < names.size();
    shown.owner = rules_.of_function(owner, role, shown.function);
    to.push_back(shown);
  }
  if (!names.empty()) return;
  shown.owner = owner;
  to.push_back(std::move(shown));
}

CallName CallNames::make(std::uint64_t id) {
  const StackRecord* stack = process_.stack(id);
  if (stack && !stack->frames.empty())
    return of_frames(process_.all_modules, process_.python_places, stack->frames, stack->cut);
  CallName name;
  name.label = id == 0 ? "(a call whose stack could not be taken)" : "(a call whose stack is not in the journal)";
  return name;
}

namespace {

// A stack of nothing but CUDA's, the language's and the interpreter's frames.
CallName without_caller(CallName name) {
  const auto is_interpreter = [](const ShownFrame& frame) { return frame.owner == FrameOwner::interpreter; };
  const ShownFrame* interpreter = first(name.frames, is_interpreter);
  const ShownFrame* python = first(name.frames, [&](const ShownFrame& frame) {
    return is_interpreter(frame) && (frame.module.starts_with("python") || frame.module.starts_with("libpython"));
  });
  if (interpreter) {
    name.library = (python ? python : interpreter)->module;
    name.label = "Python code (" + name.library + ")";
  } else {
    name.label = name.frames.back().label();
    name.library = name.frames.back().module;
  }
  return name;
}

}  // namespace

CallName CallNames::of_frames(const Modules& all, const PythonPlaces& places, const std::vector<Frame>& frames,
                              bool cut) {
  CallName name;
  for (const auto& frame : frames) {
    if (frame.python != 0) {
      name.frames.push_back(python_frame(places, frame.python));
    } else {
      add_frames(name.frames, all, frame);
    }
  }
  fold_unnamed_inside_runtime(name.frames);
  name.cut = cut;
  name.choose_what_to_show();
  const ShownFrame* shown = first(name.frames, [&](const ShownFrame& frame) { return name.shows(frame); });
  const ShownFrame* caller = first(
      name.frames, [](const ShownFrame& frame) { return frame.owner == FrameOwner::user || is_installed(frame); });
  if (!caller) return without_caller(std::move(name));
  name.label = shown->label();
  name.library = caller->module;
  const ShownFrame* inner = caller == name.frames.data() ? nullptr : caller - 1;
  if (inner && inner->function.starts_with("cuda")) name.through = without_parameters(inner->function);
  return name;
}

const CallName& CallNames::of(std::uint64_t stack) {
  const auto found = known_.find(stack);
  if (found != known_.end()) return found->second;
  return known_.emplace(stack, make(stack)).first->second;
}

}  // namespace gpumem
