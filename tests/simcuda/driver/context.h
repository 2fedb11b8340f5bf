// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "driver/types.h"

namespace simcuda {

class device;

using context_limits = std::array<std::size_t, 10>;
inline constexpr context_limits default_limits{1024, std::size_t{1} << 20, std::size_t{8} << 20, 2, 2048, 64, 0, 0, 0,
                                               0};

/// A CUDA context. Objects outlive the context that they stand for, so that a stale handle is recognised (709).
struct context {
  context(device& owner, bool primary, std::uint64_t id) : owner(owner), primary(primary), id(id) {}

  device& owner;
  const bool primary;
  const std::uint64_t id;
  std::atomic<bool> alive = false;  // read by the gate without the lock
  int uses = 0;                     // retains of a primary context; attaches of an ordinary one
  unsigned flags = 0;
  int cache_preference = 0;
  unsigned api_version = 3020;
  bool is_green = false;    // of a green context, which owns it
  std::size_t charged = 0;  // for itself and for its limits
  void* address_space = nullptr;
  std::atomic<int> thread = 0;  // on an exclusive_thread device: the one that it is current to
  std::set<const context*> peers;
  context_limits limits = default_limits;
  context_limits reserved_limits = default_limits;  // the greatest of each
};

/// All contexts of the process. Guarded by machine::mutex.
class context_table {
 public:
  /// Devices are added in the order of their ordinals, before any other context is made.
  void add_primary(device& owner) { all_.push_back(std::make_unique<context>(owner, true, all_.size() + 1)); }
  context* primary(device_ordinal ordinal) { return all_[static_cast<std::size_t>(ordinal)].get(); }

  /// Charges the overhead and makes it usable: 46 when the compute mode forbids it, 2 when the device is full.
  status bring_up(context& target);
  context* create(device& owner);
  /// Alive at once, and free of charge: its device's primary context has paid.
  context* create_green(device& owner);
  /// Another retain of a primary context, brought up by the first.
  status retain(context& primary);
  /// 201 when nobody retains it; the last release ends it.
  status release(context& primary);
  /// Reserves what a greater limit needs; it stays reserved until the context ends.
  status set_limit(context& target, std::size_t limit, std::size_t value);
  /// Frees all that belongs to it; stream-ordered memory stays.
  void tear_down(context& target);

  /// success, 201 for an unknown handle, 709 for a context that is gone.
  status check(const context* handle) const;

 private:
  std::vector<std::unique_ptr<context>> all_;  // first the primary ones, by ordinal
};

/// The calling thread's stack of current contexts. On an exclusive_thread device a context is in one thread's only.
const std::vector<context*>& context_stack();
/// 216 when the context is another thread's.
status push_context(context& target);
void pop_context();

/// The top of the stack; only where current_context_status() answered success.
context& current_context();

/// success, 201 when there is none, 709 when it is gone.
status current_context_status();

}  // namespace simcuda
