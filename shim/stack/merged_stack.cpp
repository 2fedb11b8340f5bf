#include "stack/merged_stack.hpp"

#include "stack/unwinder.hpp"

namespace gpumem {
namespace {

// Not canonical on x86-64, whatever stands below.
constexpr std::uintptr_t tag = std::uintptr_t{0x7079} << 48, state_tag = std::uintptr_t{0x7073} << 48;
constexpr std::uintptr_t tag_bits = std::uintptr_t{0xffff} << 48;

std::uintptr_t value_of(const void* word) { return reinterpret_cast<std::uintptr_t>(word); }
bool has_tag(const void* word, std::uintptr_t wanted) { return (value_of(word) & tag_bits) == wanted; }

// Stacks grow downwards: of the frames from the innermost on, the first that ends above an address holds it.
bool ends_above(const NativeStack& native, unsigned frame, std::uintptr_t address) {
  return native.tops != nullptr && native.tops[frame] > address;
}

bool returns_into(const void* frame, const MemoryRange& loop) { return loop.contains(value_of(frame) - 1); }

// Without anchors each activation has one frame, and all are seen, or none can be told from another.
bool can_match_by_loop(const NativeStack& native, const PythonStack& python, const MemoryRange& loop) {
  unsigned activations = 0;
  for (unsigned i = 0; i < native.count; ++i) activations += returns_into(native.frames[i], loop);
  return activations == python.group_count || (native.cut && activations < python.group_count);
}

static_assert(max_merged_words == max_frames + max_python_frames + extra_words);

class Merger {
 public:
  Merger(const PythonStack* python, void** words) : python_(python), words_(words) {}

  void add(void* word) { words_[count_++] = word; }
  bool has_group() const { return python_ != nullptr && group_ < python_->group_count; }
  std::uintptr_t anchor() const { return python_->groups[group_].anchor; }

  void add_group() {
    const FrameGroup& group = python_->groups[group_++];
    for (unsigned i = group.first; i < group.first + group.count; ++i)
      add(reinterpret_cast<void*>(tag | reinterpret_cast<std::uintptr_t>(python_->places[i])));
  }

  unsigned count() const { return count_; }

 private:
  const PythonStack* python_;
  void** words_;
  unsigned count_ = 0, group_ = 0;
};

}  // namespace

bool adds_words(const PythonReading& python) { return python.stack != nullptr || python.state > PythonState::read; }

unsigned merge_stacks(const NativeStack& native, const PythonReading& python, const MemoryRange& loop, void** words) {
  Merger merger(python.stack, words);
  const bool by_loop = merger.has_group() && merger.anchor() == 0 && can_match_by_loop(native, *python.stack, loop);
  for (unsigned i = 0; i < native.count; ++i) {
    if (by_loop) {
      if (merger.has_group() && returns_into(native.frames[i], loop)) merger.add_group();
    } else {
      while (merger.has_group() && merger.anchor() != 0 && ends_above(native, i, merger.anchor())) merger.add_group();
    }
    merger.add(native.frames[i]);
  }
  while (merger.has_group()) merger.add_group();
  if (python.state > PythonState::read)
    merger.add(reinterpret_cast<void*>(state_tag | static_cast<std::uintptr_t>(python.state)));
  return merger.count();
}

CodePlace* place_in_word(const void* word) {
  return has_tag(word, tag) ? reinterpret_cast<CodePlace*>(value_of(word) & ~tag_bits) : nullptr;
}

PythonState state_in_word(const void* word) {
  return has_tag(word, state_tag) ? static_cast<PythonState>(value_of(word) & ~tag_bits) : PythonState::absent;
}

}  // namespace gpumem
