// SPDX-License-Identifier: Apache-2.0
#include "driver/address_space.h"

#include <sys/mman.h>

#include <iterator>

namespace simcuda {
namespace {

// Smaller blocks keep their pages: the system call would cost more than the memory is worth.
constexpr std::size_t worth_returning = std::size_t{1} << 20;

std::size_t up_to_page(std::size_t bytes) { return (bytes + 4095) & ~std::size_t{4095}; }

}  // namespace

void* map_host_memory(std::size_t bytes) noexcept {
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(nullptr, up_to_page(bytes), PROT_READ | PROT_WRITE, kind, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* reserve_addresses(std::size_t bytes) noexcept {
  void* reserved = mmap(nullptr, up_to_page(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return reserved == MAP_FAILED ? nullptr : reserved;
}

void unmap_host_memory(void* address, std::size_t bytes) noexcept { munmap(address, up_to_page(bytes)); }

address_space::address_space(std::size_t bytes, address_reuse reuse)
    : file_(shared_file::create("simcuda-device", bytes)), bytes_(bytes), reuse_(reuse) {
  if (file_.is_open()) memory_ = file_.map(bytes, 0);
  if (!memory_) {
    file_ = {};
    memory_ = map_host_memory(bytes);
  }
  if (memory_) add_hole(reinterpret_cast<device_ptr>(memory_), bytes);
}

address_space::~address_space() {
  if (memory_) unmap_host_memory(memory_, bytes_);
}

device_ptr address_space::take(std::size_t bytes) {
  if (reuse_ == address_reuse::at_once) {
    if (const device_ptr address = take_freed_last(bytes)) return address;
  }
  const auto fitting = holes_by_size_.lower_bound({bytes, 0});
  if (fitting == holes_by_size_.end()) return 0;
  const device_ptr address = fitting->second;
  carve(holes_.find(address), address, bytes);
  return address;
}

device_ptr address_space::take_freed_last(std::size_t bytes) {
  for (auto next = freed_.rbegin(); next != freed_.rend(); ++next) {
    const device_ptr address = *next;
    const auto after = holes_.upper_bound(address);
    if (after == holes_.begin()) continue;
    const auto hole = std::prev(after);
    const std::size_t skipped = address - hole->first;
    if (skipped >= hole->second || hole->second - skipped < bytes) continue;
    freed_.erase(std::next(next).base());
    carve(hole, address, bytes);
    return address;
  }
  return 0;
}

void address_space::carve(std::map<device_ptr, std::size_t>::iterator hole, device_ptr address, std::size_t bytes) {
  const auto [start, size] = *hole;
  const std::size_t skipped = address - start;
  remove_hole(hole);
  if (skipped) add_hole(start, skipped);
  if (size > skipped + bytes) add_hole(address + bytes, size - skipped - bytes);
}

void address_space::give_back(device_ptr address, std::size_t bytes) {
  if (bytes >= worth_returning) {
    const device_ptr first = (address + 4095) & ~device_ptr{4095};
    const device_ptr last = (address + bytes) & ~device_ptr{4095};
    madvise(reinterpret_cast<void*>(first), last - first, file_.is_open() ? MADV_REMOVE : MADV_DONTNEED);
  }
  if (reuse_ == address_reuse::never) return;
  if (reuse_ == address_reuse::at_once) {
    constexpr std::size_t remembered = 4096;
    if (freed_.size() == remembered) freed_.erase(freed_.begin());
    freed_.push_back(address);
  }
  auto next = holes_.lower_bound(address);
  if (next != holes_.end() && address + bytes == next->first) {
    bytes += next->second;
    const auto merged = next++;
    remove_hole(merged);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      address = before->first;
      bytes += before->second;
      remove_hole(before);
    }
  }
  add_hole(address, bytes);
}

bool address_space::locate(device_ptr address, int& descriptor, std::size_t& offset) const {
  descriptor = file_.descriptor();
  offset = address - reinterpret_cast<device_ptr>(memory_);
  return file_.is_open();
}

void address_space::add_hole(device_ptr start, std::size_t bytes) {
  holes_.emplace(start, bytes);
  holes_by_size_.emplace(bytes, start);
}

void address_space::remove_hole(std::map<device_ptr, std::size_t>::iterator hole) {
  holes_by_size_.erase({hole->second, hole->first});
  holes_.erase(hole);
}

}  // namespace simcuda
