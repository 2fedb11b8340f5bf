// SPDX-License-Identifier: Apache-2.0
#include "driver/device.h"

#include <algorithm>
#include <cstdio>

namespace simcuda {
namespace {

constexpr std::size_t address_space_per_capacity = 8;

}  // namespace

device::device(device_ordinal ordinal, const device_description& description, address_reuse reuse,
               shared_account* account)
    : ordinal_(ordinal),
      description_(description),
      reuse_(reuse),
      account_(account),
      default_pool_(std::make_unique<memory_pool>(*this, 0)),
      graph_pool_(std::make_unique<memory_pool>(*this, 0)),
      current_pool_(default_pool_.get()) {
  pools_.push_back(current_pool_);
  for (const auto& process : description_.other_processes) lose(process.used_bytes);
}

bool device::charge(std::size_t bytes) {
  const auto meanwhile = guard();
  if (bytes > free_bytes()) reclaim_pools();
  if (bytes > free_bytes()) return false;
  used_ += bytes;
  publish();
  return true;
}

void device::refund(std::size_t bytes) noexcept {
  used_ -= bytes;
  publish();
}

void device::publish() const noexcept {
  if (account_) account_->publish(description_.position, own_bytes(), contexts_);
}

void device::add_context() noexcept {
  ++contexts_;
  publish();
}

void device::remove_context() noexcept {
  --contexts_;
  publish();
}

bool device::is_used_by_others() const {
  return !description_.other_processes.empty() || (account_ && account_->others_have_context(description_.position));
}

std::size_t device::left() const noexcept {
  const std::size_t used = used_ + (account_ ? account_->used_by_others(description_.position) : 0);
  return description_.capacity - std::min(used, description_.capacity);
}

std::size_t device::free_bytes() noexcept {
  if (!description_.falls.empty()) {
    const auto age = std::chrono::steady_clock::now() - made_;
    std::erase_if(description_.falls, [&](const memory_fall& fall) {
      const bool is_due = age >= std::chrono::milliseconds(fall.after_ms);
      if (is_due) take_away(fall.bytes);
      return is_due;
    });
  }
  return left();
}

void device::take_away(std::size_t bytes) noexcept {
  const std::size_t taken = std::min(bytes, left());
  used_ += taken;
  lost_ += taken;
}

void device::lose(std::size_t bytes) noexcept {
  free_bytes();  // what is due goes first
  take_away(bytes);
}

address_space& device::addresses() {
  if (!addresses_) {
    const std::size_t bytes = description_.contiguous ? free_bytes() : capacity() * address_space_per_capacity;
    addresses_ = std::make_unique<address_space>(bytes, reuse_);
  }
  return *addresses_;
}

std::optional<int> device::attribute(int number) const {
  switch (number) {
    case 16: return description_.multiprocessors;
    case 20: return static_cast<int>(description_.mode);
    case 33: return description_.pci_bus;
    case 34: return description_.pci_device;
    case 50: return description_.pci_domain;
    case 75: return description_.compute_capability[0];
    case 76: return description_.compute_capability[1];
    case 85: return ordinal_;  // MULTI_GPU_BOARD_GROUP_ID: every device is on a board of its own
#define DEVICE_ATTRIBUTE(number, name, value) \
  case number:                                \
    return value;
#include "driver/device_attributes.def"
#undef DEVICE_ATTRIBUTE
    default: return std::nullopt;
  }
}

std::string device::pci_bus_id() const {
  char text[16];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", description_.pci_domain & 0xffff, description_.pci_bus & 0xff,
                description_.pci_device & 0xff);
  return text;
}

void device::remove_pool(memory_pool* pool) { std::erase(pools_, pool); }

void device::trim_pools() noexcept {
  for (memory_pool* pool : pools_) pool->trim(pool->release_threshold);
}

void device::reclaim_pools() noexcept {
  for (memory_pool* pool : pools_) pool->trim(0);
}

}  // namespace simcuda
