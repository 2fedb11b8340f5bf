// What is known of an address or handle that a program tried to give back.
//
// An address may be that of blocks in several address spaces. The one that the function that was called is the right
// one for comes first, then the order of all_kinds().
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/kinds.hpp"
#include "analyze/usage.hpp"
#include "model/records.hpp"

namespace gpumem {

struct PointerHistory {
  // The block that stands there, and stays.
  struct Live {
    TotalKey total;
    std::uint64_t allocated_by = 0;
    std::optional<std::uint64_t> context;
    bool is_right_function = true;
  };
  std::optional<Live> live;

  // Else: how the last block there ended, if the journal knows one.
  struct Ended {
    std::string kind;
    std::uint64_t ns = 0;
    std::string api;
    std::int64_t tid = 0;
    std::uint64_t stack = 0;  // of the call that ended it; 0 for most frees, which are recorded without
    std::uint64_t allocated_by = 0;
    bool with_context = false;
  };
  std::optional<Ended> ended;
};

// Values by address and address space.
using AddressKey = std::pair<std::uint64_t, std::string>;
inline AddressKey address_key(std::uint64_t address, std::string_view kind) {
  return {address, std::string(address_space(kind))};
}

// The entry of that address which the call most likely meant; end() where there is none. `kind_of` names the kind of an
// entry's value; `kind`, where it is not empty, is the only one wanted.
template <class Map, class KindOf>
typename Map::const_iterator find_meant(const Map& map, std::uint64_t address, std::string_view api,
                                        std::string_view kind, KindOf kind_of) {
  auto best = map.end();
  std::pair<bool, const KindTexts*> best_rank;
  for (auto each = map.lower_bound({address, ""}); each != map.end() && each->first.first == address; ++each) {
    const std::string_view found = kind_of(each->second);
    if (!kind.empty() && found != kind) continue;
    const std::pair rank{!is_given_back_by(found, api), find_kind(found)};
    if (best == map.end() || rank < best_rank) {
      best = each;
      best_rank = rank;
    }
  }
  return best;
}

class EndedBlocks {
 public:
  // Addresses whose last ended block is remembered, so that a second free of one can be explained.
  static constexpr std::size_t most = 65536;

  void remember(std::uint64_t address, PointerHistory::Ended end);
  std::optional<PointerHistory::Ended> find(std::uint64_t address, std::string_view api, std::string_view kind) const;

 private:
  std::map<AddressKey, PointerHistory::Ended> ended_;
  std::deque<AddressKey> order_;  // oldest first
};

}  // namespace gpumem
