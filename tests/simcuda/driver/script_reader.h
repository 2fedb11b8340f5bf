// SPDX-License-Identifier: Apache-2.0
// Reading JSON strictly: every value has a type and a range, every key is known, and a refusal names the place.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/script.h"

namespace simcuda {

using nlohmann::json;

/// Where in the script we are, for messages: "file: devices[0].name".
class location {
 public:
  explicit location(std::string file) : text_(std::move(file) + ": ") {}

  location key(const std::string& name) const { return location(text_, (nested_ ? "." : "") + name); }
  location item(std::size_t index) const { return location(text_, "[" + std::to_string(index) + "]"); }

  [[noreturn]] void refuse(const std::string& why) const { throw script_error(text_ + (nested_ ? ": " : "") + why); }

 private:
  location(const std::string& parent, const std::string& more) : text_(parent + more), nested_(true) {}

  std::string text_;
  bool nested_ = false;
};

using reader = std::function<void(const json&, const location&)>;

inline void read_object(const json& value, const location& where, const std::map<std::string, reader>& keys) {
  if (!value.is_object()) where.refuse("an object is expected");
  for (const auto& [name, member] : value.items()) {
    const auto known = keys.find(name);
    if (known == keys.end()) where.key(name).refuse("unknown key");
    known->second(member, where.key(name));
  }
}

template <class Integer>
reader integer(Integer& target, Integer least = 0, Integer most = std::numeric_limits<Integer>::max()) {
  return [&target, least, most](const json& value, const location& where) {
    if (!value.is_number_integer()) where.refuse("an integer is expected");
    const bool negative = value.is_number_unsigned() ? false : value.get<std::int64_t>() < 0;
    const bool fits = negative ? std::cmp_greater_equal(value.get<std::int64_t>(), least)
                               : std::cmp_less_equal(value.get<std::uint64_t>(), most) &&
                                     std::cmp_greater_equal(value.get<std::uint64_t>(), least);
    if (!fits) where.refuse("out of range: " + std::to_string(least) + " to " + std::to_string(most));
    target = value.get<Integer>();
  };
}

inline reader text(std::string& target) {
  return [&target](const json& value, const location& where) {
    if (!value.is_string()) where.refuse("a string is expected");
    target = value.get<std::string>();
  };
}

inline reader boolean(bool& target) {
  return [&target](const json& value, const location& where) {
    if (!value.is_boolean()) where.refuse("true or false is expected");
    target = value.get<bool>();
  };
}

template <class Item, class Read>
reader list(std::vector<Item>& target, Read read) {
  return [&target, read](const json& value, const location& where) {
    if (!value.is_array()) where.refuse("a list is expected");
    target.clear();
    for (std::size_t index = 0; index < value.size(); ++index) {
      target.push_back(read(value[index], where.item(index), index));
    }
  };
}

/// One of some words.
template <class Value>
reader word(Value& target, std::map<std::string, Value> words) {
  return [&target, words](const json& value, const location& where) {
    const auto known = value.is_string() ? words.find(value.get<std::string>()) : words.end();
    if (known == words.end()) {
      std::string all;
      for (const auto& [name, meaning] : words) all += (all.empty() ? "\"" : ", \"") + name + "\"";
      where.refuse("one of " + all + " is expected");
    }
    target = known->second;
  };
}

}  // namespace simcuda
