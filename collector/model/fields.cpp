#include "model/fields.hpp"

#include <charconv>
#include <limits>

namespace gpumem {

using nlohmann::json;

void wrong_type(std::string_view key, const char* expected) {
  throw BadLine("has a \"" + std::string(key) + "\" that is not " + expected);
}

std::uint64_t parse_address(std::string_view text, std::string_view key) {
  std::uint64_t value = 0;
  if (text.starts_with("0x")) {
    const char* const last = text.data() + text.size();
    const auto [stop, trouble] = std::from_chars(text.data() + 2, last, value, 16);
    if (trouble == std::errc() && stop == last) return value;
  }
  wrong_type(key, "an address (\"0x...\")");
}

const json* Fields::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::uint64_t> Fields::maybe_count(const char* key) const {
  const json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number_unsigned()) wrong_type(key, "a whole number from 0");
  return value->get<std::uint64_t>();
}

std::optional<std::int64_t> Fields::maybe_integer(const char* key) const {
  const json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number_integer()) wrong_type(key, "a whole number");
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    wrong_type(key, "a number of this size");
  }
  return value->get<std::int64_t>();
}

std::optional<std::string> Fields::maybe_text(const char* key) const {
  const json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) wrong_type(key, "a text");
  return value->get<std::string>();
}

std::optional<DeviceOrdinal> Fields::maybe_device() const {
  const auto value = maybe_integer("d");
  if (value && (*value < 0 || *value > 1023)) wrong_type("d", "a device ordinal");
  return value ? std::optional<DeviceOrdinal>(static_cast<DeviceOrdinal>(*value)) : std::nullopt;
}

std::optional<std::string> Fields::maybe_word(const char* key) const {
  const json* value = find(key);
  return value && value->is_number_integer() ? std::optional(value->dump()) : maybe_text(key);
}

bool Fields::flag(const char* key) const {
  const json* value = find(key);
  if (value && !value->is_boolean()) wrong_type(key, "true or false");
  return value && value->get<bool>();
}

std::uint64_t Fields::address(const char* key) const {
  const auto value = maybe_text(key);
  return value ? parse_address(*value, key) : 0;
}

const json& Fields::object(const char* key) const {
  static const json empty = json::object();
  const json* value = find(key);
  if (!value) return empty;
  if (!value->is_object()) wrong_type(key, "an object");
  return *value;
}

const json& Fields::list(const char* key) const {
  static const json empty = json::array();
  const json* value = find(key);
  if (!value) return empty;
  if (!value->is_array()) wrong_type(key, "a list");
  return *value;
}

std::vector<std::string> Fields::texts(const char* key) const {
  std::vector<std::string> result;
  for (const auto& element : list(key)) {
    if (!element.is_string()) wrong_type(key, "a list of texts");
    result.push_back(element.get<std::string>());
  }
  return result;
}

std::map<std::string, std::uint64_t> Fields::counts(const char* key) const {
  std::map<std::string, std::uint64_t> result;
  for (const auto& [name, value] : object(key).items()) {
    if (!value.is_number_unsigned()) wrong_type(key, "a table of counts");
    result.emplace(name, value.get<std::uint64_t>());
  }
  return result;
}

}  // namespace gpumem
