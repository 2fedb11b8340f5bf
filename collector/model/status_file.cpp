#include "model/status_file.hpp"

#include <nlohmann/json.hpp>

#include "model/sidecar.hpp"

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

}  // namespace

std::optional<ExitRecord> read_status_file(const std::filesystem::path& path) {
  const auto text = read_sidecar(path, largest_status_file);
  const json object = text ? json::parse(*text, nullptr, false) : json();
  if (!object.is_object()) return std::nullopt;
  ExitRecord status;
  status.pid = static_cast<std::int64_t>(count_or_zero(object, "pid"));
  status.started_ns = count_or_zero(object, "started_ns");
  status.ended_ns = count_or_zero(object, "ended_ns");
  status.exit_status = maybe_int(object, "exit_status");
  status.signal = maybe_int(object, "signal");
  if (!status.exit_status && !status.signal) return std::nullopt;
  if (const auto kills = object.find("group_kills"); kills != object.end() && kills->is_number_unsigned())
    status.group_kills = kills->get<std::uint64_t>();
  if (const auto command = object.find("command"); command != object.end() && command->is_array()) {
    for (const auto& word : *command) {
      if (word.is_string()) status.command.push_back(word.get<std::string>());
    }
  }
  return status;
}

void write_status_file(const std::filesystem::path& path, const ExitRecord& status) {
  json object;
  object["schema"] = 1;
  object["pid"] = status.pid;
  object["command"] = status.command;
  object["started_ns"] = status.started_ns;
  object["ended_ns"] = status.ended_ns;
  object["exit_status"] = status.exit_status ? json(*status.exit_status) : json();
  object["signal"] = status.signal ? json(*status.signal) : json();
  object["group_kills"] = status.group_kills ? json(*status.group_kills) : json();
  write_sidecar(path, object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace gpumem
