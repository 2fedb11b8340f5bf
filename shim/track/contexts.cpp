#include "track/contexts.hpp"

namespace gpumem {

Context* Contexts::slot_of(std::uint64_t handle) {
  for (std::size_t i = 0; handle != 0 && i < used_; ++i)
    if (slots_[i].handle == handle) return &slots_[i];
  return nullptr;
}

Context* Contexts::free_slot() {
  for (std::size_t i = 0; i < used_; ++i)
    if (slots_[i].handle == 0) return &slots_[i];
  return used_ < capacity ? &slots_[used_++] : nullptr;
}

Context Contexts::born(std::uint64_t handle, int device, bool primary, bool& fresh) {
  fresh = false;
  LockGuard guard(lock_);
  if (Context* known = slot_of(handle)) {
    known->primary |= primary;
    return *known;
  }
  Context* slot = free_slot();
  if (slot == nullptr) return {};
  *slot = {handle, ++last_number_, static_cast<std::int16_t>(device), primary};
  fresh = true;
  return *slot;
}

bool Contexts::find(std::uint64_t handle, Context& found) {
  LockGuard guard(lock_);
  const Context* known = slot_of(handle);
  if (known != nullptr) found = *known;
  return known != nullptr;
}

bool Contexts::find_primary(int device, Context& found) {
  LockGuard guard(lock_);
  for (std::size_t i = 0; i < used_; ++i) {
    if (slots_[i].handle == 0 || !slots_[i].primary || slots_[i].device != device) continue;
    found = slots_[i];
    return true;
  }
  return false;
}

bool Contexts::end(std::uint64_t handle, Context& ended) {
  LockGuard guard(lock_);
  Context* known = slot_of(handle);
  if (known == nullptr) return false;
  ended = *known;
  *known = {};
  return true;
}

void Contexts::restore(const Context& context) {
  LockGuard guard(lock_);
  if (slot_of(context.handle) != nullptr) return;
  if (Context* slot = free_slot()) *slot = context;
}

}  // namespace gpumem
