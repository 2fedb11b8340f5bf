// Looks into an object that may be anything: what is missing, null or of another type than expected is absent.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gpumem {

class Told {
 public:
  explicit Told(const nlohmann::json& value) : value_(value) {}

  Told operator[](const char* key) const {
    static const nlohmann::json nothing;
    if (!value_.is_object()) return Told(nothing);
    const auto found = value_.find(key);
    return Told(found == value_.end() ? nothing : *found);
  }

  bool is_told() const { return !value_.is_null(); }

  std::optional<std::uint64_t> count() const {
    return value_.is_number_unsigned() ? std::optional(value_.get<std::uint64_t>()) : std::nullopt;
  }
  std::optional<std::int64_t> integer() const {
    return value_.is_number_integer() ? std::optional(value_.get<std::int64_t>()) : std::nullopt;
  }
  std::optional<double> number() const {
    return value_.is_number() ? std::optional(value_.get<double>()) : std::nullopt;
  }
  std::optional<bool> truth() const { return value_.is_boolean() ? std::optional(value_.get<bool>()) : std::nullopt; }
  std::optional<std::string> text() const {
    return value_.is_string() ? std::optional(value_.get<std::string>()) : std::nullopt;
  }
  std::optional<std::string> word() const { return value_.is_number_integer() ? std::optional(value_.dump()) : text(); }

  template <class Take>
  void each(Take take) const {
    if (!value_.is_array()) return;
    for (const auto& element : value_) take(Told(element));
  }
  template <class Take>
  void each_entry(Take take) const {
    if (!value_.is_object()) return;
    for (const auto& [key, value] : value_.items()) take(key, Told(value));
  }

 private:
  const nlohmann::json& value_;
};

}  // namespace gpumem
