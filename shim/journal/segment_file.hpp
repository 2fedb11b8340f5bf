// One file of a journal, and the mapping that it is written through.
//
// No descriptor stays open: programs close descriptors that they do not know. Whatever needs one opens the file again
// and checks that it is the same. The mapping does not exist in forked children.
#pragma once

#include <cstddef>
#include <string_view>

#include <sys/types.h>

namespace gpumem {

class SegmentFile {
 public:
  enum class Writing { mapped, by_calls };

  static constexpr std::size_t page_size = 4096;
  static constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page_size - 1) & ~(page_size - 1); }

  // Creates `path` exclusively, mode 0600, without following a link at its end, with `first` bytes reserved on the
  // disk. Where the file system has no shared mappings it is written by calls. Under a limit of address space or file
  // size `capacity` becomes less. False: errno says why.
  bool create(const char* path, std::size_t first, std::size_t& capacity, Writing writing);

  // Reserves the bytes of the file from `from` to `to`, so that a full disk costs lines, not a SIGBUS. False: errno
  // says why; ESTALE: the file has been removed, replaced or cut by somebody else.
  bool reserve(const char* path, std::size_t from, std::size_t to) const;

  // Makes the file so long. False: errno says why, as above.
  bool cut(const char* path, std::size_t length) const;

  // Writes to it: into the mapping, or by calls that open and close the file.
  bool write(const char* path, std::size_t at, std::string_view text) const;

  // Whether the page of this byte is still the file's: false where somebody has cut the file, which would make the next
  // write to the mapping a SIGBUS. Always true where it is written by calls.
  bool has_page_of(std::size_t byte) const;

  void unmap();

  bool is_mapped() const { return bytes_ != nullptr; }

 private:
  bool map(int descriptor, std::size_t first, std::size_t& capacity);

  char* bytes_ = nullptr;
  std::size_t mapped_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Writes `last_line` into a closed file of a journal at `length`, and cuts it after that. Ended in between, it leaves a
// whole file, or one whose reader stops at that line. Nothing where the path is no regular file.
bool cut_closed_file(const char* path, std::size_t length, std::string_view last_line);

}  // namespace gpumem
