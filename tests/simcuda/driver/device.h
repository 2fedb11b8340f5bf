// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/address_space.h"
#include "driver/memory_pool.h"
#include "driver/script.h"
#include "driver/shared_account.h"
#include "driver/types.h"

namespace simcuda {

/// One simulated GPU: what it is, how much of it is in use, and its addresses. Guarded by machine::mutex.
///
/// Used bytes are the sum of contexts' overhead, blocks (each rounded up to 512 bytes), pools' reserve, code, other
/// processes (the script's and those of a shared account) and what a script took away. A request that does not fit the
/// rest is out of memory.
class device {
 public:
  /// The account may be nullptr.
  device(device_ordinal ordinal, const device_description& description, address_reuse reuse, shared_account* account);

  device_ordinal ordinal() const noexcept { return ordinal_; }
  const device_description& description() const noexcept { return description_; }
  std::size_t capacity() const noexcept { return description_.capacity; }
  /// Without what the script let vanish up to now.
  std::size_t free_bytes() noexcept;

  /// false, and nothing changed: does not fit, even after every pool gave up its unused reserve.
  bool charge(std::size_t bytes);
  void refund(std::size_t bytes) noexcept;
  /// Memory that no call explains; stops at the capacity.
  void lose(std::size_t bytes) noexcept;
  /// What calls of this process hold.
  std::size_t own_bytes() const noexcept { return used_ - lost_; }

  /// Other processes can neither begin nor end to use the device meanwhile.
  [[nodiscard]] account_guard guard() const { return account_guard(account_); }
  void add_context() noexcept;
  void remove_context() noexcept;
  bool has_context() const noexcept { return contexts_ != 0; }
  bool is_used_by_others() const;

  /// Of a contiguous device as large as what is free when it is first asked for.
  address_space& addresses();

  /// nullopt: the number is no attribute.
  std::optional<int> attribute(int number) const;
  std::string pci_bus_id() const;

  /// What graphs' allocations are made from; it gives memory back only when trimmed.
  memory_pool& graph_pool() noexcept { return *graph_pool_; }
  memory_pool* default_pool() noexcept { return default_pool_.get(); }
  memory_pool* current_pool() noexcept { return current_pool_; }
  void set_current_pool(memory_pool* pool) noexcept { current_pool_ = pool; }
  void add_pool(memory_pool* pool) { pools_.push_back(pool); }
  void remove_pool(memory_pool* pool);
  /// Every pool gives back what it reserves beyond its release threshold (at a synchronization), or all that it does
  /// not use (when memory is short).
  void trim_pools() noexcept;
  void reclaim_pools() noexcept;

 private:
  void take_away(std::size_t bytes) noexcept;
  std::size_t left() const noexcept;
  void publish() const noexcept;

  device_ordinal ordinal_;
  device_description description_;
  address_reuse reuse_;
  shared_account* account_;
  std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  std::size_t used_ = 0;
  std::size_t lost_ = 0;  // a part of it
  std::size_t contexts_ = 0;
  std::unique_ptr<address_space> addresses_;
  std::vector<memory_pool*> pools_;
  std::unique_ptr<memory_pool> default_pool_;
  std::unique_ptr<memory_pool> graph_pool_;
  memory_pool* current_pool_;
};

}  // namespace simcuda
