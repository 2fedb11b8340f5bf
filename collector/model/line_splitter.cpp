#include "model/line_splitter.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/error.hpp"

namespace gpumem {
namespace {

constexpr std::size_t piece_size = 256u << 10;

}  // namespace

LineSplitter::LineSplitter(const std::filesystem::path& file, std::uint64_t offset, Torn torn)
    : path_(file), start_(offset), offset_(offset), torn_(torn) {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw Error(file.string() + " cannot be opened: " + std::strerror(errno) + ".");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    throw Error(file.string() + " is not a regular file; name a journal or a folder of journals.");
  }
  file_.reset(::fdopen(descriptor, "r"));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  if (offset > 0) ::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET);
}

// Appends the next piece of the file; returns how many bytes came.
std::size_t LineSplitter::read_piece() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  // One NUL says as much as many, and a journal may end with hundreds of megabytes of padding.
  const auto last_text = buffer_.find_last_not_of('\0');
  const std::size_t text_size = last_text == std::string::npos ? 0 : last_text + 1;
  if (buffer_.size() > text_size + 1) buffer_.resize(text_size + 1);
  if (buffer_.size() > longest_line) {
    throw Error(path_.string() + ":" + std::to_string(line_number_ + 1) +
                ": the line is longer than any line of a journal; this is not a gpumem journal.");
  }
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + piece_size);
  const std::size_t got = std::fread(buffer_.data() + kept, 1, piece_size, file_.get());
  buffer_.resize(kept + got);
  if (got == 0 && std::ferror(file_.get())) {
    throw Error(path_.string() + " cannot be read: " + std::strerror(errno) + ".");
  }
  bytes_read_ += got;
  return got;
}

std::string_view LineSplitter::without_torn_start(std::string_view piece) {
  const auto last_nul = piece.rfind('\0');
  if (last_nul == std::string_view::npos) return piece;
  if (piece.substr(0, last_nul).find_first_not_of('\0') != std::string_view::npos) ++torn_lines_;
  return piece.substr(last_nul + 1);
}

std::optional<std::string_view> LineSplitter::next() {
  for (std::size_t unsearched = begin_;;) {
    const auto newline = buffer_.find('\n', unsearched);
    if (newline != std::string::npos) {
      const std::string_view piece(buffer_.data() + begin_, newline - begin_);
      is_waiting_ = torn_ == Torn::wait && piece.find('\0') != std::string_view::npos;
      if (is_waiting_) return std::nullopt;
      begin_ = newline + 1;
      offset_ = start_ + bytes_read_ - (buffer_.size() - begin_);
      ++line_number_;
      const auto line = without_torn_start(piece);
      if (!line.empty() || piece.empty()) return line;
      unsearched = begin_;
      continue;
    }
    const std::size_t got = read_piece();
    if (got == 0) break;
    unsearched = buffer_.size() - got;
  }
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  is_cut_ = !rest.empty() && rest.back() != '\0';
  if (torn_ == Torn::wait) {
    // Whoever goes on later sees what becomes of it.
  } else if (is_cut_) {
    without_torn_start(rest);
  } else if (rest.find_first_not_of('\0') != std::string_view::npos) {
    ++torn_lines_;
  }
  buffer_.clear();
  begin_ = 0;
  return std::nullopt;
}

}  // namespace gpumem
