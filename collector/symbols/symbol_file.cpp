#include "symbols/symbol_file.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "model/sidecar.hpp"

namespace gpumem {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_symbol_file = 1u << 30;

std::string address_text(std::uint64_t address) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
  return "0x" + std::string(digits, end);
}

std::optional<std::uint64_t> parse_address(const std::string& text) {
  std::uint64_t value = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  const auto [stop, trouble] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return trouble == std::errc() && *stop == '\0' ? std::optional(value) : std::nullopt;
}

std::optional<std::string> maybe_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
}

NamedFrames read_frames(const json& list) {
  NamedFrames frames;
  for (const auto& element : list) {
    if (!element.is_object()) continue;
    SourceFrame frame{maybe_text(element, "function"), maybe_text(element, "file"), std::nullopt};
    const auto line = element.find("line");
    if (line != element.end() && line->is_number_integer()) frame.line = line->get<int>();
    frames.push_back(std::move(frame));
  }
  return frames;
}

json frame_object(const SourceFrame& frame) {
  json object = json::object();
  if (frame.function) object["function"] = *frame.function;
  if (frame.file) object["file"] = *frame.file;
  if (frame.line) object["line"] = *frame.line;
  return object;
}

}  // namespace

NamesByFile read_symbol_file(const std::filesystem::path& path) {
  NamesByFile names;
  const auto text = read_sidecar(path, largest_symbol_file);
  const json whole = text ? json::parse(*text, nullptr, false) : json();
  const auto modules = whole.is_object() ? whole.find("modules") : whole.end();
  if (!whole.is_object() || modules == whole.end() || !modules->is_array()) return names;
  for (const auto& module : *modules) {
    const auto frames = module.is_object() ? module.find("frames") : module.end();
    if (!module.is_object() || frames == module.end() || !frames->is_object()) continue;
    const CodeFile file{maybe_text(module, "path").value_or(""), maybe_text(module, "build_id").value_or("")};
    for (const auto& [offset, list] : frames->items()) {
      const auto address = parse_address(offset);
      if (address && list.is_array()) names[file].frames.emplace(*address, read_frames(list));
    }
    if (auto trouble = maybe_text(module, "trouble")) names[file].trouble = *std::move(trouble);
  }
  return names;
}

void write_symbol_file(const std::filesystem::path& path, const NamesByFile& names) {
  json modules = json::array();
  for (const auto& [file, of_file] : names) {
    json frames = json::object();
    for (const auto& [address, named] : of_file.frames) {
      json list = json::array();
      for (const auto& frame : named) list.push_back(frame_object(frame));
      frames[address_text(address)] = std::move(list);
    }
    modules.push_back({{"path", file.path},
                       {"build_id", file.build_id.empty() ? json() : json(file.build_id)},
                       {"frames", std::move(frames)}});
    if (!of_file.trouble.empty()) modules.back()["trouble"] = of_file.trouble;
  }
  const json whole = {{"schema", 1}, {"modules", std::move(modules)}};
  write_sidecar(path, whole.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace gpumem
