#include "stack/native/rule_cache.hpp"

#include "base/loaded_objects.hpp"

namespace gpumem {
namespace {

constinit RuleCache known_rules, no_known_rules{0};

}  // namespace

RuleCache& shared_rules(bool by_memory, std::uint32_t generation) {
  RuleCache& rules = by_memory ? known_rules : no_known_rules;
  rules.use_generation(generation);
  return rules;
}

void RuleCache::use_generation(std::uint32_t generation) {
  const auto is_newer = [&] {
    return static_cast<std::int32_t>(generation - generation_.load(std::memory_order_acquire)) > 0;
  };
  if (!is_newer()) return;
  LockGuard guard(lock_);
  if (!is_newer()) return;
  Slots* slots = slots_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; slots != nullptr && i < slots->capacity; ++i)
    slots->at[i].key.store(0, std::memory_order_relaxed);
  count_ = 0;
  generation_.store(generation, std::memory_order_release);
}

std::size_t RuleCache::count() {
  LockGuard guard(lock_);
  return count_;
}

// Under the loader's lock, so that what is read there stays: an unload may have gone unnoticed.
UnwindRule RuleCache::derive(std::uintptr_t return_address) {
  const std::uintptr_t call = return_address - 1;
  UnwindRule rule;
  const bool is_code = any_object([&](const LoadedObject& object) {
    if (!object.contains(call)) return false;
    rule = derive_rule(object, call);
    return true;
  });
  // Else it can be any word that lies where a return address should: there is no end of those.
  if (is_code) store(return_address, rule);
  return rule;
}

bool RuleCache::make_room() {
  Slots* old = slots_.load(std::memory_order_relaxed);
  if (old != nullptr && (count_ + 1) * 2 <= old->capacity) return true;
  const std::size_t capacity = old == nullptr ? first_capacity : old->capacity * 4;
  if (capacity > most_) return false;
  auto* bigger = static_cast<Slots*>(arena_.here().take(sizeof(Slots) + capacity * sizeof(Slot)));
  if (bigger == nullptr) return false;
  bigger->capacity = capacity;
  for (std::size_t i = 0; old != nullptr && i < old->capacity; ++i) {
    const std::uintptr_t key = old->at[i].key.load(std::memory_order_relaxed);
    if (key == 0) continue;
    std::size_t to = hash(key);
    while (bigger->at[to & (capacity - 1)].key.load(std::memory_order_relaxed) != 0) ++to;
    Slot& slot = bigger->at[to & (capacity - 1)];
    slot.rule.store(old->at[i].rule.load(std::memory_order_relaxed), std::memory_order_relaxed);
    slot.key.store(key, std::memory_order_relaxed);
  }
  // The old ones stay: another thread may be searching them.
  slots_.store(bigger, std::memory_order_release);
  return true;
}

void RuleCache::store(std::uintptr_t key, UnwindRule rule) {
  LockGuard guard(lock_);
  if (UnwindRule known; find(key, known) || !make_room()) return;
  Slots* slots = slots_.load(std::memory_order_relaxed);
  std::size_t to = hash(key);
  while (slots->at[to & (slots->capacity - 1)].key.load(std::memory_order_relaxed) != 0) ++to;
  Slot& slot = slots->at[to & (slots->capacity - 1)];
  slot.rule.store(std::bit_cast<std::uint64_t>(rule), std::memory_order_release);
  slot.key.store(key, std::memory_order_release);
  ++count_;
}

}  // namespace gpumem
