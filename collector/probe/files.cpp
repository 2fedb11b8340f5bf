#include "probe/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace gpumem {

using nlohmann::ordered_json;

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

ordered_json FileText::first_line() const {
  return text ? ordered_json(text->substr(0, text->find('\n'))) : ordered_json();
}

FileText read_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {std::nullopt, ::strerrorname_np(errno)};
  std::string text;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = ::read(file, bytes, sizeof bytes)) > 0) text.append(bytes, static_cast<std::size_t>(count));
  const int error = errno;
  ::close(file);
  if (count < 0) return {std::nullopt, ::strerrorname_np(error)};
  return {std::move(text)};
}

ordered_json number_in(const std::filesystem::path& path) {
  const auto line = read_file(path).first_line();
  if (line.is_null()) return line;
  const auto& text = line.get_ref<const std::string&>();
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? ordered_json(number) : line;
}

}  // namespace gpumem
