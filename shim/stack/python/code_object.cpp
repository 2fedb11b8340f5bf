#include "stack/python/code_object.hpp"

#include <cstring>

#include "stack/python/memory_reader.hpp"

namespace gpumem {
namespace {

constexpr auto unreadable = "a pointer of a code object leads nowhere";

template <class Reader>
bool read_head(Reader& memory, const PythonLayout& layout, std::uintptr_t code, CodeHead& head) {
  const auto& at = layout.code;
  // Up to 3.10 the instructions are an object of their own, from 3.11 on they are the end of this one.
  const bool has_instructions =
      layout.chain == FrameChainKind::frame_objects || layout.chain == FrameChainKind::frame_objects_and_cframes;
  head.version = 0;
  return memory.read(code + at.file, head.file) && memory.read(code + at.name, head.name) &&
         memory.read(code + at.lines, head.lines) && memory.read(code + at.first_line, head.first_line) &&
         memory.read(code + (has_instructions ? at.instructions : layout.object.size), head.size) &&
         (at.version == 0 || memory.read(code + at.version, head.version));
}

std::string_view view(std::uintptr_t address, std::uint64_t size) {
  return {reinterpret_cast<const char*>(address), size};
}

unsigned width_of(const PythonLayout& layout, std::uint32_t state) {
  return (state & layout.text.kind_mask) >> layout.text.kind_shift;
}

template <class Reader>
bool read_text(Reader& memory, const PythonLayout& layout, std::uintptr_t text, PythonText& out) {
  std::uint64_t length;
  std::uint32_t state;
  if (!memory.read(text + layout.text.length, length) || !memory.read(text + layout.text.state, state)) return false;
  const bool is_ready = (state & layout.text.ready) == layout.text.ready && (state & layout.text.compact) != 0;
  constexpr std::uint64_t longest = 1 << 20;
  out.width = width_of(layout, state);
  if (!is_ready || length > longest || (out.width != 1 && out.width != 2 && out.width != 4)) return false;
  const auto begin = text + ((state & layout.text.is_ascii) != 0 ? layout.text.ascii : layout.text.other);
  out.bytes = view(begin, length * out.width);
  return memory.can_read(begin, out.bytes.size());
}

std::size_t encode(std::uint32_t c, char (&out)[4]) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80 | (c >> shift & 63)); };
  if (c < 0x80) return out[0] = static_cast<char>(c), 1;
  if (c < 0x800) return out[0] = static_cast<char>(0xc0 | c >> 6), out[1] = tail(0), 2;
  if (c < 0x10000) return out[0] = static_cast<char>(0xe0 | c >> 12), out[1] = tail(6), out[2] = tail(0), 3;
  return out[0] = static_cast<char>(0xf0 | (c >> 18 & 7)), out[1] = tail(12), out[2] = tail(6), out[3] = tail(0), 4;
}

}  // namespace

CodeHead head_of(const PythonLayout& layout, std::uintptr_t code) {
  CodeHead head;
  MemoryReader<false> memory;
  read_head(memory, layout, code, head);
  return head;
}

CodeContents contents_of(const PythonLayout& layout, const CodeHead& head) {
  MemoryReader<false> memory;
  CodeContents contents;
  std::uint64_t size = 0;
  memory.read(head.lines + layout.object.bytes_size, size);
  contents.lines = view(head.lines + layout.object.bytes_data, size);
  read_text(memory, layout, head.file, contents.file);
  read_text(memory, layout, head.name, contents.name);
  return contents;
}

const char* examine_code(const Interpreter& interpreter, std::uintptr_t code, CodeHead& head, CodeContents& contents) {
  const PythonLayout& layout = interpreter.layout;
  MemoryReader<true> memory;
  const auto type_of = [&](std::uintptr_t object) {
    std::uintptr_t type;
    return memory.read(object + layout.object.type, type) ? type : 0;
  };
  if (!read_head(memory, layout, code, head)) return unreadable;
  if (type_of(head.lines) != interpreter.bytes_type) return "a line table is no bytes object";
  if (type_of(head.name) != interpreter.text_type) return "a function's name is no str object";
  std::uint64_t size;
  constexpr std::uint64_t largest = 16 << 20;
  if (!memory.read(head.lines + layout.object.bytes_size, size)) return unreadable;
  if (size > largest) return "a line table is too long";
  const std::uintptr_t lines = head.lines + layout.object.bytes_data;
  if (!memory.can_read(lines, size)) return unreadable;
  contents.lines = view(lines, size);
  if (!read_text(memory, layout, head.name, contents.name)) return "a function's name is no text";
  // A program may give what it likes as the file's name, such as a subclass of str.
  if (type_of(head.file) != interpreter.text_type || !read_text(memory, layout, head.file, contents.file))
    contents.file = {};
  return nullptr;
}

std::size_t to_utf8(const PythonText& text, char* out, std::size_t capacity) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.bytes.size(); i += text.width) {
    std::uint32_t c = 0;
    std::memcpy(&c, text.bytes.data() + i, text.width);
    char sequence[4];
    const std::size_t length = encode(c, sequence);
    if (length > capacity - used) break;
    std::memcpy(out + used, sequence, length);
    used += length;
  }
  return used;
}

}  // namespace gpumem
