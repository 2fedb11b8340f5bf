#include "track/contexts.hpp"

namespace gpumem {

Context Contexts::born(std::uint64_t handle, int device, bool primary, bool& fresh) {
  fresh = false;
  LockGuard guard(lock_);
  Context* free_slot = nullptr;
  for (std::size_t i = 0; i < used_; ++i) {
    if (slots_[i].handle == handle) return slots_[i];
    if (slots_[i].handle == 0 && free_slot == nullptr) free_slot = &slots_[i];
  }
  if (free_slot == nullptr) {
    if (used_ == capacity) return {};
    free_slot = &slots_[used_++];
  }
  *free_slot = {handle, ++last_number_, static_cast<std::int16_t>(device), primary};
  fresh = true;
  return *free_slot;
}

bool Contexts::find(std::uint64_t handle, Context& found) {
  LockGuard guard(lock_);
  for (std::size_t i = 0; i < used_; ++i) {
    if (slots_[i].handle != handle || handle == 0) continue;
    found = slots_[i];
    return true;
  }
  return false;
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
  for (std::size_t i = 0; i < used_; ++i) {
    if (slots_[i].handle != handle || handle == 0) continue;
    ended = slots_[i];
    slots_[i] = {};
    return true;
  }
  return false;
}

}  // namespace gpumem
