#include "forensics/helper_environment.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace gpumem {
namespace {

constexpr std::size_t most_entries = 8192;
constexpr std::size_t text_capacity = 128 * 1024;

bool is_recorded(std::string_view name) {
  for (const char* recorded : recorded_variables)
    if (name == recorded) return true;
  return false;
}

// Of the loader's own variables only the path is taken over, which is one of the recorded ones.
bool is_kept(std::string_view name) {
  return !is_recorded(name) && !name.starts_with("LD_") && name != "GPUMEM_DISABLE";
}

}  // namespace

HelperEnvironment::HelperEnvironment(const ProcessFacts& facts)
    : pages_(most_entries * sizeof(const char*) + text_capacity) {
  if (!pages_) return;
  const char* const end = facts.environment + facts.environment_size;
  for (const char* entry = facts.environment; entry < end;) {
    const auto* stop = static_cast<const char*>(std::memchr(entry, '\0', static_cast<std::size_t>(end - entry)));
    if (stop == nullptr) break;  // cut off
    const std::string_view text(entry, static_cast<std::size_t>(stop - entry));
    if (is_kept(text.substr(0, text.find('=')))) add(entry);
    entry = stop + 1;
  }
  for (const char* name : recorded_variables)
    if (std::strcmp(name, "LD_PRELOAD") != 0) add_present(name);
  add("GPUMEM_DISABLE=1");
}

bool HelperEnvironment::remove(std::string_view name) {
  auto* const entries = reinterpret_cast<const char**>(pages_.begin());
  for (std::size_t i = 0; i < count_; ++i) {
    const std::string_view entry(entries[i]);
    if (!entry.starts_with(name) || entry.substr(name.size(), 1) != "=") continue;
    entries[i] = entries[--count_];
    entries[count_] = nullptr;
    return true;
  }
  return false;
}

void HelperEnvironment::add(const char* entry) {
  if (count_ + 1 < most_entries) reinterpret_cast<const char**>(pages_.begin())[count_++] = entry;
}

void HelperEnvironment::add_present(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return;
  const std::size_t name_length = std::strlen(name), value_length = std::strlen(value);
  if (name_length + value_length + 2 > text_capacity - text_used_) return;
  char* entry = pages_.begin() + most_entries * sizeof(const char*) + text_used_;
  std::memcpy(entry, name, name_length);
  entry[name_length] = '=';
  std::memcpy(entry + name_length + 1, value, value_length);
  text_used_ += name_length + value_length + 2;
  add(entry);
}

}  // namespace gpumem
