// SPDX-License-Identifier: Apache-2.0
#include "driver/resolver.h"

#include <algorithm>
#include <iterator>
#include <string_view>

// Only the addresses matter here, so every export is declared alike; the linker knows them by name.
#define RESOLVES(name, mode, version, entry, origin) extern "C" int entry();
#include "driver/resolver_table.def"
#undef RESOLVES

namespace simcuda {
namespace {

enum class stream_mode { any, legacy, per_thread };

struct row {
  std::string_view name;
  stream_mode mode;
  int first_version;
  const char* export_name;
  int (*entry)();
};

// In the order of the names, and of the versions within a name.
const row table[] = {
#define RESOLVES(name, mode, version, entry, origin) {#name, stream_mode::mode, version, #entry, entry},
#include "driver/resolver_table.def"
#undef RESOLVES
};

struct by_name {
  bool operator()(const row& left, std::string_view right) const { return left.name < right; }
  bool operator()(std::string_view left, const row& right) const { return left < right.name; }
};

}  // namespace

lookup resolve(const char* name, int version, std::uint64_t flags, int driver_version) {
  const stream_mode wanted = flags & 2 ? stream_mode::per_thread : stream_mode::legacy;
  const auto [first, last] = std::equal_range(std::begin(table), std::end(table), std::string_view(name), by_name{});
  const row* best = nullptr;
  bool known = false;
  for (const row* candidate = first; candidate != last; ++candidate) {
    if (candidate->first_version > driver_version) continue;
    if (candidate->mode != stream_mode::any && candidate->mode != wanted) continue;
    known = true;
    // Versions are compared as unsigned numbers: -1 finds the newest (measured).
    if (static_cast<unsigned>(candidate->first_version) > static_cast<unsigned>(version)) continue;
    if (!best || candidate->first_version > best->first_version) best = candidate;
  }
  if (best) return {lookup_result::found, reinterpret_cast<void*>(best->entry), best->export_name};
  return {known ? lookup_result::version_too_low : lookup_result::unknown_name, nullptr, nullptr};
}

}  // namespace simcuda
