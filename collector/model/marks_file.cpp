#include "model/marks_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/error.hpp"
#include "model/sidecar.hpp"
#include "model/told.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_file = 16u << 20;

bool is_regular(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// What another writer, or a full disk, left without its end: the mark must not become part of it.
bool ends_inside_a_line(int descriptor) {
  char last = '\n';
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  return size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

MarksFile read_marks(const std::filesystem::path& path) {
  MarksFile result;
  std::istringstream lines(read_sidecar(path, largest_file).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const json object = json::parse(line, nullptr, false);
    const Told told(object);
    const auto ns = told["ns"].count();
    const auto text = told["text"].text();
    if (told["t"].text() == schema::line::mark && ns && text) {
      result.marks.push_back({*ns, *text});
    } else if (!line.empty()) {
      ++result.bad_lines;
    }
  }
  std::stable_sort(result.marks.begin(), result.marks.end(), [](const Mark& a, const Mark& b) { return a.ns < b.ns; });
  return result;
}

void append_mark(const std::filesystem::path& path, const Mark& mark) {
  nlohmann::ordered_json object = {{"t", schema::line::mark}, {"ns", mark.ns}, {"text", mark.text}};
  std::string line = object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  std::string trouble;
  if (descriptor < 0) {
    trouble = std::strerror(errno);
  } else if (!is_regular(descriptor)) {
    trouble = "it is no regular file";
  } else {
    if (ends_inside_a_line(descriptor)) line.insert(0, "\n");
    const ssize_t written = ::write(descriptor, line.data(), line.size());
    if (written < 0) trouble = std::strerror(errno);
    if (written >= 0 && static_cast<std::size_t>(written) < line.size()) trouble = "the disk is full";
  }
  if (descriptor >= 0) ::close(descriptor);
  if (!trouble.empty()) throw Error(path.string() + " cannot be written: " + trouble + ".");
}

}  // namespace gpumem
