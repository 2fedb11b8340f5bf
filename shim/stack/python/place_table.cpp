#include "stack/python/place_table.hpp"

#include <cstring>

namespace gpumem {
namespace {

void mix(std::uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
}

}  // namespace

CodePlace* PlaceTable::intern(std::string_view file, std::string_view name, int line) {
  std::uint64_t hash = 0xcbf29ce484222325ull + static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15ull;
  mix(hash, file);
  mix(hash, name);
  hash ^= hash >> 32;
  return table_.intern(
      hash, sizeof(CodePlace) + file.size() + name.size(),
      [&](const CodePlace& known) { return known.line == line && known.file() == file && known.name() == name; },
      [&](CodePlace& fresh) {
        fresh.line = line;
        fresh.file_size = static_cast<std::uint32_t>(file.size());
        fresh.name_size = static_cast<std::uint32_t>(name.size());
        std::memcpy(fresh.text, file.data(), file.size());
        std::memcpy(fresh.text + file.size(), name.data(), name.size());
      });
}

}  // namespace gpumem
