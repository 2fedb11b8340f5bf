#include "stack/stack_table.hpp"

#include <cstring>

namespace gpumem {
namespace {

std::uint64_t hash_frames(void* const* frames, unsigned depth, std::uint32_t generation) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull ^ generation;
  for (unsigned i = 0; i < depth; ++i) {
    h ^= reinterpret_cast<std::uintptr_t>(frames[i]);
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

Stack* StackTable::find(const Slots* slots, std::uint64_t hash, void* const* frames, unsigned depth,
                        std::uint32_t generation) {
  if (slots == nullptr) return nullptr;
  for (std::size_t i = hash;; ++i) {
    Stack* stack = slots->at[i & (slots->capacity - 1)].load(std::memory_order_acquire);
    if (stack == nullptr) return nullptr;
    if (stack->hash == hash && stack->depth == depth && stack->generation == generation &&
        std::memcmp(stack->frames, frames, depth * sizeof(void*)) == 0)
      return stack;
  }
}

bool StackTable::make_room() {
  Slots* old = slots_.load(std::memory_order_relaxed);
  if (old != nullptr && (count_ + 1) * 2 <= old->capacity) return true;
  const std::size_t capacity = old == nullptr ? 256 : old->capacity * 2;
  auto* bigger = static_cast<Slots*>(arena_.take(sizeof(Slots) + capacity * sizeof(std::atomic<Stack*>)));
  if (bigger == nullptr) return false;
  bigger->capacity = capacity;
  for (std::size_t i = 0; old != nullptr && i < old->capacity; ++i) {
    Stack* stack = old->at[i].load(std::memory_order_relaxed);
    if (stack == nullptr) continue;
    std::size_t to = stack->hash;
    while (bigger->at[to & (capacity - 1)].load(std::memory_order_relaxed) != nullptr) ++to;
    bigger->at[to & (capacity - 1)].store(stack, std::memory_order_relaxed);
  }
  slots_.store(bigger, std::memory_order_release);
  return true;
}

Stack* StackTable::intern(void* const* frames, unsigned depth, std::uint32_t generation) {
  if (depth == 0) return nullptr;
  const std::uint64_t hash = hash_frames(frames, depth, generation);
  if (Stack* known = find(slots_.load(std::memory_order_acquire), hash, frames, depth, generation)) return known;
  LockGuard guard(lock_);
  if (Stack* known = find(slots_.load(std::memory_order_relaxed), hash, frames, depth, generation)) return known;
  if (!make_room()) return nullptr;
  auto* stack = static_cast<Stack*>(arena_.take(sizeof(Stack) + (depth - 1) * sizeof(void*)));
  if (stack == nullptr) return nullptr;
  stack->hash = hash;
  stack->number = static_cast<std::uint32_t>(++count_);
  stack->generation = generation;
  stack->depth = depth;
  std::memcpy(stack->frames, frames, depth * sizeof(void*));
  Slots* slots = slots_.load(std::memory_order_relaxed);
  std::size_t to = hash;
  while (slots->at[to & (slots->capacity - 1)].load(std::memory_order_relaxed) != nullptr) ++to;
  slots->at[to & (slots->capacity - 1)].store(stack, std::memory_order_release);
  return stack;
}

}  // namespace gpumem
