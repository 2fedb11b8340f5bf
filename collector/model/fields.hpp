// Typed look-ups in one JSON object of a journal. A key that is null counts as absent.
//
// What is missing or of a wrong type is thrown as BadLine, which names the key.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/record_parser.hpp"
#include "model/records.hpp"

namespace gpumem {

[[noreturn]] void wrong_type(std::string_view key, const char* expected);

// "0x1f"
std::uint64_t parse_address(std::string_view text, std::string_view key);

class Fields {
 public:
  explicit Fields(const nlohmann::json& object) : object_(object) {}

  bool has(const char* key) const { return find(key) != nullptr; }

  std::optional<std::uint64_t> maybe_count(const char* key) const;
  std::optional<std::int64_t> maybe_integer(const char* key) const;
  std::optional<std::string> maybe_text(const char* key) const;
  std::optional<DeviceOrdinal> maybe_device() const;
  // A text, or the digits of a number that has no name.
  std::optional<std::string> maybe_word(const char* key) const;

  std::uint64_t count(const char* key) const { return required(maybe_count(key), key); }
  std::int64_t integer(const char* key) const { return required(maybe_integer(key), key); }
  std::string required_text(const char* key) const { return required(maybe_text(key), key); }
  DeviceOrdinal device() const { return required(maybe_device(), "d"); }

  // The neutral value where the key is absent.
  std::string text(const char* key) const { return maybe_text(key).value_or(""); }
  bool flag(const char* key) const;
  std::uint64_t address(const char* key) const;
  const nlohmann::json& object(const char* key) const;
  const nlohmann::json& list(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  std::map<std::string, std::uint64_t> counts(const char* key) const;

 private:
  const nlohmann::json* find(const char* key) const;

  template <class Value>
  static Value required(std::optional<Value> value, const char* key) {
    if (!value) throw BadLine("lacks the key \"" + std::string(key) + "\"");
    return *std::move(value);
  }

  const nlohmann::json& object_;
};

}  // namespace gpumem
