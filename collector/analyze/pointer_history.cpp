#include "analyze/pointer_history.hpp"

namespace gpumem {

void EndedBlocks::remember(std::uint64_t address, PointerHistory::Ended end) {
  if (address == 0) return;
  AddressKey key = address_key(address, end.kind);
  const bool is_new = ended_.insert_or_assign(key, std::move(end)).second;
  if (!is_new) return;
  order_.push_back(std::move(key));
  if (order_.size() <= most) return;
  ended_.erase(order_.front());
  order_.pop_front();
}

std::optional<PointerHistory::Ended> EndedBlocks::find(std::uint64_t address, std::string_view api,
                                                       std::string_view kind) const {
  const auto found = find_meant(ended_, address, api, kind, [](const auto& end) { return std::string_view(end.kind); });
  return found == ended_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace gpumem
