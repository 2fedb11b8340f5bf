// Cuts the bytes of a journal into lines, as docs/FORMAT.md says under "Bytes".
//
// Reads forward in pieces, never maps the file: a running process may cut its journal to size at any moment.
// Holds one line at a time. NUL padding and what a killed thread left half written are told apart from a file that
// somebody cut: a journal's last byte is a newline or padding.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gpumem {

class LineSplitter {
 public:
  // Longer lines than this do not occur in a journal; it bounds the memory that hostile input can take.
  static constexpr std::size_t longest_line = 16u << 20;

  // A line that is half written: skipped and counted, or waited for, which is the end until it is whole.
  enum class Torn { skip, wait };

  // Begins at byte `offset`, where a line begins. Throws error where the file cannot be opened or is no regular file.
  explicit LineSplitter(const std::filesystem::path& file, std::uint64_t offset = 0, Torn torn = Torn::skip);

  // The next whole line without its newline, valid until the next call; nothing at the end of the file.
  // Throws error where reading fails or a line is longer than longest_line.
  std::optional<std::string_view> next();

  // The byte where the first line begins that next() has not given.
  std::uint64_t offset() const { return offset_; }
  bool is_waiting() const { return is_waiting_; }

  // Number of the line that next() gave last, counting newlines from 1 where reading began.
  std::uint64_t line_number() const { return line_number_; }
  std::uint64_t torn_lines() const { return torn_lines_; }
  bool holds_no_bytes() const { return bytes_read_ == 0; }

  // After the end: the file stops inside a line without padding, so something cut it.
  bool is_cut() const { return is_cut_; }

 private:
  std::size_t read_piece();
  std::string_view without_torn_start(std::string_view piece);

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the unread part of buffer_
  std::uint64_t start_ = 0;
  std::uint64_t offset_ = 0;
  Torn torn_ = Torn::skip;
  bool is_waiting_ = false;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t line_number_ = 0;
  std::uint64_t torn_lines_ = 0;
  bool is_cut_ = false;
};

}  // namespace gpumem
