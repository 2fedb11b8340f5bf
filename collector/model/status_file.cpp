#include "model/status_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "model/error.hpp"

namespace gpumem {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_status_file = 16u << 20;

std::optional<int> maybe_int(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int>();
}

std::uint64_t count_or_zero(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool write_all(int descriptor, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t got = ::write(descriptor, text.data() + written, text.size() - written);
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) written += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::optional<exit_record> read_status_file(const std::filesystem::path& path) {
  const auto text = read_sidecar(path, largest_status_file);
  const json object = text ? json::parse(*text, nullptr, false) : json();
  if (!object.is_object()) return std::nullopt;
  exit_record status;
  status.pid = static_cast<std::int64_t>(count_or_zero(object, "pid"));
  status.started_ns = count_or_zero(object, "started_ns");
  status.ended_ns = count_or_zero(object, "ended_ns");
  status.exit_status = maybe_int(object, "exit_status");
  status.signal = maybe_int(object, "signal");
  if (!status.exit_status && !status.signal) return std::nullopt;
  if (const auto command = object.find("command"); command != object.end() && command->is_array()) {
    for (const auto& word : *command) {
      if (word.is_string()) status.command.push_back(word.get<std::string>());
    }
  }
  return status;
}

void write_status_file(const std::filesystem::path& path, const exit_record& status) {
  json object;
  object["schema"] = 1;
  object["pid"] = status.pid;
  object["command"] = status.command;
  object["started_ns"] = status.started_ns;
  object["ended_ns"] = status.ended_ns;
  object["exit_status"] = status.exit_status ? json(*status.exit_status) : json();
  object["signal"] = status.signal ? json(*status.signal) : json();
  write_sidecar(path, object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

void write_sidecar(const std::filesystem::path& path, const std::string& text) {
  const std::string draft = path.string() + "." + std::to_string(::getpid());
  const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool written = descriptor >= 0;
  if (written) {
    written = write_all(descriptor, text);
    written = ::close(descriptor) == 0 && written && ::rename(draft.c_str(), path.c_str()) == 0;
  }
  if (written) return;
  const std::string reason = std::strerror(errno);
  if (descriptor >= 0) ::unlink(draft.c_str());
  throw error(path.string() + " cannot be written: " + reason + ".");
}

std::optional<std::string> read_sidecar(const std::filesystem::path& path, std::uint64_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> text;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<std::uint64_t>(status.st_size) <= most) {
    text.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t filled = 0;
    while (filled < text->size()) {
      const ssize_t got = ::read(descriptor, text->data() + filled, text->size() - filled);
      if (got <= 0) break;
      filled += static_cast<std::size_t>(got);
    }
    text->resize(filled);
  }
  ::close(descriptor);
  return text;
}

}  // namespace gpumem
