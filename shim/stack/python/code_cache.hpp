// One thread's memory of which code stands where.
//
// Code objects come and go, and their addresses come again, so an entry holds copies of what it was made from, and is
// believed only where that is still the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stack/python/code_object.hpp"
#include "stack/python/frame_chain.hpp"
#include "stack/python/place_table.hpp"

namespace gpumem {

class CodeCache {
 public:
  // Where the frame is; nullptr where its code is not what was expected, with the reason in `trouble`, and where there
  // is no memory left, without. `suspicious`: looks into code that is known, too, as into new one.
  CodePlace* place_of(const Interpreter& interpreter, const PythonFrame& frame, bool suspicious, PlaceTable& places,
                      const char*& trouble);

 private:
  struct Entry {
    std::uintptr_t code = 0;  // 0: empty
    std::int32_t offset = 0;
    std::uint32_t lines_size = 0, file_size = 0, name_size = 0;
    CodeHead head{};
    const char* copies = nullptr;  // of the line table and the two names
    CodePlace* place = nullptr;

    bool still_true(const PythonLayout& layout, const PythonFrame& frame) const;
  };

  CodePlace* learn(Entry& entry, const Interpreter& interpreter, const PythonFrame& frame, PlaceTable& places,
                   const char*& trouble);
  void keep(Entry& entry, const PythonFrame& frame, const CodeHead& head, const CodeContents& contents,
            CodePlace* place);

  static constexpr std::size_t entry_count = 2048, copies_size = 512 * 1024;
  static constexpr std::size_t longest_file = 2048, longest_name = 512;
  Entry entries_[entry_count];
  char copies_[copies_size];
  std::size_t copies_used_ = 0;
  char text_[longest_file + longest_name];
};

}  // namespace gpumem
