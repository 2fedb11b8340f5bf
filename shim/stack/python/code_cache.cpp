#include "stack/python/code_cache.hpp"

#include <cstring>

#include "stack/python/line_tables.hpp"

namespace gpumem {

bool CodeCache::Entry::still_true(const PythonLayout& layout, const PythonFrame& frame) const {
  if (code != frame.code || offset != frame.offset || head_of(layout, code) != head) return false;
  const CodeContents now = contents_of(layout, head);
  return now.lines == std::string_view(copies, lines_size) &&
         now.file.bytes == std::string_view(copies + lines_size, file_size) &&
         now.name.bytes == std::string_view(copies + lines_size + file_size, name_size);
}

CodePlace* CodeCache::place_of(const Interpreter& interpreter, const PythonFrame& frame, bool suspicious,
                               PlaceTable& places, const char*& trouble) {
  const std::uint64_t mixed =
      (frame.code >> 4) * 0x9e3779b97f4a7c15ull + static_cast<std::uint32_t>(frame.offset) * 0xc2b2ae3d27d4eb4full;
  Entry& entry = entries_[(mixed >> 40) % entry_count];
  if (!suspicious && entry.still_true(interpreter.layout, frame)) return entry.place;
  return learn(entry, interpreter, frame, places, trouble);
}

CodePlace* CodeCache::learn(Entry& entry, const Interpreter& interpreter, const PythonFrame& frame, PlaceTable& places,
                            const char*& trouble) {
  CodeHead head;
  CodeContents contents;
  trouble = examine_code(interpreter, frame.code, head, contents);
  if (trouble != nullptr) return nullptr;
  const int line = line_at(interpreter.layout.lines, contents.lines, head.first_line, frame.offset);
  const bool has_file = contents.file.width != 0;
  const std::string_view file = has_file ? std::string_view(text_, to_utf8(contents.file, text_, longest_file)) : "?";
  char* name = text_ + longest_file;
  CodePlace* place = places.intern(file, {name, to_utf8(contents.name, name, longest_name)}, line);
  if (place != nullptr && has_file) keep(entry, frame, head, contents, place);
  return place;
}

void CodeCache::keep(Entry& entry, const PythonFrame& frame, const CodeHead& head, const CodeContents& contents,
                     CodePlace* place) {
  const std::string_view pieces[] = {contents.lines, contents.file.bytes, contents.name.bytes};
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  entry.code = 0;
  if (size > copies_size / 4) return;
  if (size > copies_size - copies_used_) {
    for (Entry& old : entries_) old.code = 0;
    copies_used_ = 0;
  }
  char* copy = copies_ + copies_used_;
  copies_used_ += size;
  entry.copies = copy;
  for (const std::string_view piece : pieces) {
    std::memcpy(copy, piece.data(), piece.size());
    copy += piece.size();
  }
  entry.offset = frame.offset;
  entry.lines_size = static_cast<std::uint32_t>(contents.lines.size());
  entry.file_size = static_cast<std::uint32_t>(contents.file.bytes.size());
  entry.name_size = static_cast<std::uint32_t>(contents.name.bytes.size());
  entry.head = head;
  entry.place = place;
  entry.code = frame.code;
}

}  // namespace gpumem
