#include "stack/python/frame_chain.hpp"

#include <pthread.h>

#include "stack/python/memory_reader.hpp"

namespace gpumem {
namespace {

constexpr unsigned most_hops = 100'000;

constexpr auto unreadable = "a pointer leads nowhere";
constexpr auto no_code = "a frame's code is no code object";

template <bool probes>
class ChainReader {
 public:
  ChainReader(const Interpreter& interpreter, FrameChain& chain)
      : layout_(interpreter.layout), code_type_(interpreter.code_type), chain_(chain) {
    chain_.count = chain_.group_count = 0;
    chain_.cut = false;
  }

  const char* read(std::uintptr_t thread) {
    std::uint64_t id;
    std::uintptr_t frame;
    if (!memory_.read(thread + layout_.thread.id, id)) return unreadable;
    if (id != pthread_self()) return "the thread's state is another thread's";
    if (!memory_.read(thread + layout_.thread.frame, frame)) return unreadable;
    if (layout_.cframe.in_thread != 0 && !memory_.read(thread + layout_.cframe.in_thread, cframe_)) return unreadable;
    if (has_frame_objects()) return read_frame_objects(frame);
    if (layout_.chain != FrameChainKind::shims && !memory_.read(cframe_ + layout_.cframe.frame, frame))
      return unreadable;
    return read_frames(frame);
  }

 private:
  bool has_frame_objects() const {
    return layout_.chain == FrameChainKind::frame_objects || layout_.chain == FrameChainKind::frame_objects_and_cframes;
  }
  bool is_full() const { return chain_.count == max_python_frames; }

  bool is_code(std::uintptr_t object) {
    std::uintptr_t type;
    return memory_.read(object + layout_.object.type, type) && type == code_type_;
  }

  void add(std::uintptr_t code, std::int64_t offset) {
    chain_.frames[chain_.count++] = {code, static_cast<std::int32_t>(offset)};
  }

  void close_group(std::uintptr_t anchor) {
    if (chain_.count > group_begin_) {
      chain_.groups[chain_.group_count++] = {anchor, static_cast<std::uint16_t>(group_begin_),
                                             static_cast<std::uint16_t>(chain_.count - group_begin_)};
    }
    group_begin_ = chain_.count;
  }

  bool leave_cframe() { return cframe_ == 0 || memory_.read(cframe_ + layout_.cframe.previous, cframe_); }

  // Up to 3.10: one object for each activation.
  const char* read_frame_objects(std::uintptr_t frame) {
    const bool counts_units = layout_.lines == LineTableKind::ranges;
    while (frame != 0) {
      if (is_full()) {
        chain_.cut = true;
        break;
      }
      std::uintptr_t code;
      std::int32_t last;
      if (!memory_.read(frame + layout_.frame.code, code) || !memory_.read(frame + layout_.frame.instruction, last) ||
          !memory_.read(frame + layout_.frame.previous, frame))
        return unreadable;
      if (!is_code(code)) return no_code;
      constexpr std::int32_t most = 1 << 28;
      if (last < -1 || last > most) return "an instruction is outside its code";
      add(code, counts_units && last > 0 ? last * 2 : last);
      close_group(cframe_);
      if (layout_.chain == FrameChainKind::frame_objects_and_cframes && !leave_cframe()) return unreadable;
    }
    return nullptr;
  }

  // From 3.11 on. A chain that is cut is followed to the end of its group, whose anchor lies there.
  const char* read_frames(std::uintptr_t frame) {
    const bool has_shims = layout_.chain != FrameChainKind::entry_marks;
    for (unsigned hops = 0; frame != 0; ++hops) {
      if (hops == most_hops) return "the chain of frames does not end";
      const std::uintptr_t self = frame;
      std::uint8_t owner, is_entry = 0;
      if (!memory_.read(self + layout_.frame.owner, owner) || !memory_.read(self + layout_.frame.previous, frame))
        return unreadable;
      constexpr std::uint8_t last_owner = 4, first_shim_owner = 3;
      if (owner > last_owner) return "a frame's owner is not known";
      const bool is_shim = has_shims && owner >= first_shim_owner;
      if (!is_shim) {
        if (const char* trouble = take_frame(self, owner)) return trouble;
        if (!has_shims && !memory_.read(self + layout_.frame.entry, is_entry)) return unreadable;
      }
      if (is_shim || is_entry != 0) {
        close_group(is_shim ? self : cframe_);
        if (is_full() && chain_.cut) return nullptr;
        if (!is_shim && !leave_cframe()) return unreadable;
      }
    }
    close_group(0);
    return nullptr;
  }

  const char* take_frame(std::uintptr_t frame, std::uint8_t owner) {
    std::uintptr_t code, instruction, begin;
    if (!memory_.read(frame + layout_.frame.code, code) ||
        !memory_.read(frame + layout_.frame.instruction, instruction))
      return unreadable;
    code &= ~std::uintptr_t{layout_.frame.tags};
    std::int32_t first_traceable;
    std::int64_t units;
    if (!is_code(code)) return no_code;
    if (!memory_.read(code + layout_.object.size, units) ||
        !memory_.read(code + layout_.code.first_traceable, first_traceable) || !find_bytecode(frame, code, begin))
      return unreadable;
    const auto offset = static_cast<std::int64_t>(instruction - begin);
    constexpr std::int64_t most_units = 1 << 26;
    if (units <= 0 || units > most_units || offset < -2 || offset >= 2 * units || offset % 2 != 0)
      return "an instruction is outside its code";
    // As Python's own tracebacks do: a frame that has not begun is not shown, unless a generator's.
    constexpr std::uint8_t generator = 1;
    if (owner != generator && offset < 2 * std::int64_t{first_traceable}) return nullptr;
    if (is_full()) {
      chain_.cut = true;
    } else {
      add(code, offset);
    }
    return nullptr;
  }

  // Threads of a free-threaded interpreter may run copies of the bytecode. Copy 0 is the code object's own, found
  // without the table, which another thread may be replacing.
  bool find_bytecode(std::uintptr_t frame, std::uintptr_t code, std::uintptr_t& begin) {
    begin = code + layout_.code.instructions;
    if (layout_.frame.bytecode_index == 0) return true;
    std::int32_t index;
    if (!memory_.read(frame + layout_.frame.bytecode_index, index)) return false;
    if (index == 0) return true;
    std::uintptr_t copies;
    std::int64_t count;
    return memory_.read(code + layout_.code.bytecodes, copies) && memory_.read(copies, count) && index > 0 &&
           index < count && memory_.read(copies + sizeof count + static_cast<std::uintptr_t>(index) * 8, begin);
  }

  const PythonLayout& layout_;
  const std::uintptr_t code_type_;
  FrameChain& chain_;
  MemoryReader<probes> memory_;
  std::uintptr_t cframe_ = 0;
  unsigned group_begin_ = 0;
};

}  // namespace

const char* read_frame_chain(const Interpreter& interpreter, std::uintptr_t thread_state, bool probes,
                             FrameChain& chain) {
  if (probes) return ChainReader<true>(interpreter, chain).read(thread_state);
  return ChainReader<false>(interpreter, chain).read(thread_state);
}

}  // namespace gpumem
