// SPDX-License-Identifier: Apache-2.0
#include "driver/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "driver/device.h"

namespace simcuda {
namespace {

/// Behind the memory itself, so that another process learns from the descriptor alone what it imports.
struct file_end {
  char mark[16] = "simcuda memory";
  allocation_properties properties{};
  std::size_t bytes = 0;
  unsigned team = 0;  // devices of a multicast object; 0: memory
};

void* pointer_to(device_ptr address) { return reinterpret_cast<void*>(address); }

constexpr int no_memory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool is_device(memory_location where) { return where.type == location_device; }
int key_of(memory_location who) { return is_device(who) ? who.id : -1; }

}  // namespace

memory_hold::memory_hold(virtual_memory& in, physical_memory& of) : in_(&in), of_(&of) { in.hold(of); }

memory_hold::~memory_hold() {
  if (of_) in_->drop(*of_);
}

status virtual_memory::reserve(std::size_t bytes, std::size_t alignment, device_ptr wanted, device_ptr& out) {
  if (!bytes || bytes % granularity || (alignment && !std::has_single_bit(alignment))) return status::invalid_value;
  const std::size_t align = std::max(alignment, granularity);
  std::size_t room = 0;
  if (__builtin_add_overflow(bytes, align, &room)) return status::out_of_memory;
  if (wanted && wanted % align == 0) {
    void* there = mmap(pointer_to(wanted), bytes, PROT_NONE, no_memory | MAP_FIXED_NOREPLACE, -1, 0);
    if (there == pointer_to(wanted)) {
      reservations_[out = wanted] = bytes;
      return status::success;
    }
    if (there != MAP_FAILED) munmap(there, bytes);
  }
  void* memory = mmap(nullptr, room, PROT_NONE, no_memory, -1, 0);
  if (memory == MAP_FAILED) return status::out_of_memory;
  const auto start = reinterpret_cast<device_ptr>(memory);
  const device_ptr first = (start + align - 1) & ~(align - 1);
  if (first != start) munmap(memory, first - start);
  if (start + room != first + bytes) munmap(pointer_to(first + bytes), start + room - first - bytes);
  reservations_[out = first] = bytes;
  return status::success;
}

status virtual_memory::free(device_ptr address, std::size_t bytes) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes) return status::invalid_value;
  const auto inside = mappings_.lower_bound(address);
  if (inside != mappings_.end() && inside->first < address + bytes) return status::invalid_value;
  munmap(pointer_to(address), bytes);
  reservations_.erase(found);
  return status::success;
}

status virtual_memory::create(std::size_t bytes, const allocation_properties& wanted, device* owner,
                              physical_memory*& out) {
  if (!bytes || bytes % granularity) return status::invalid_value;
  if (owner && !owner->charge(bytes)) return status::out_of_memory;
  const status result = add(bytes, wanted, 0, out);
  if (result == status::success)
    out->charged = owner;
  else if (owner)
    owner->refund(bytes);
  return result;
}

status virtual_memory::create_multicast(unsigned team, std::size_t bytes, const allocation_properties& wanted,
                                        physical_memory*& out) {
  return bytes && bytes % granularity == 0 ? add(bytes, wanted, team, out) : status::invalid_value;
}

status virtual_memory::add(std::size_t bytes, const allocation_properties& wanted, unsigned team,
                           physical_memory*& out) {
  const file_end end{.properties = wanted, .bytes = bytes, .team = team};
  shared_file file = shared_file::create("simcuda-memory", bytes + sizeof end);
  const bool noted = file.is_open() && pwrite(file.descriptor(), &end, sizeof end, static_cast<off_t>(bytes)) > 0;
  if (!noted) return status::out_of_memory;
  out = memory_.create();
  out->properties = wanted;
  out->bytes = bytes;
  out->file = std::move(file);
  if (team) out->team.reset(new multicast_team{team});
  return status::success;
}

status virtual_memory::import(int descriptor, physical_memory*& out) {
  shared_file file = shared_file::duplicate(descriptor);
  file_end end;
  const std::size_t size = file.is_open() ? file.bytes() : 0;
  const auto place = static_cast<off_t>(size - sizeof end);
  const bool readable = size > sizeof end && pread(file.descriptor(), &end, sizeof end, place) == sizeof end;
  if (!readable || std::strcmp(end.mark, file_end{}.mark) != 0 || end.bytes + sizeof end != size) {
    return status::invalid_value;
  }
  out = nullptr;
  memory_.for_each([&](physical_memory& known) {
    if (known.file.same_as(file)) out = &known;
  });
  if (out) {
    ++out->references;
    return status::success;
  }
  out = memory_.create();
  out->properties = end.properties;
  out->bytes = end.bytes;
  if (end.team) out->team.reset(new multicast_team{end.team});
  out->file = std::move(file);
  return status::success;
}

physical_memory* virtual_memory::find(memory_handle handle) const {
  auto* memory = reinterpret_cast<physical_memory*>(handle);
  return memory_.contains(memory) && memory->references ? memory : nullptr;
}

void virtual_memory::release(physical_memory& memory) {
  --memory.references;
  destroy_if_unused(memory);
}

void virtual_memory::drop(physical_memory& memory) {
  --memory.mappings;
  destroy_if_unused(memory);
}

void virtual_memory::destroy_if_unused(physical_memory& memory) {
  if (memory.references || memory.mappings) return;
  if (memory.charged) memory.charged->refund(memory.bytes);
  memory_.destroy(&memory);
}

status virtual_memory::map(device_ptr address, std::size_t bytes, std::size_t offset, physical_memory& memory,
                           device& owner) {
  const bool whole = bytes && address % granularity == 0 && bytes % granularity == 0 && offset % granularity == 0;
  if (!whole || offset > memory.bytes || bytes > memory.bytes - offset || !in_one_reservation(address, bytes) ||
      blocks_.overlaps(address, bytes)) {
    return status::invalid_value;
  }
  if (!memory.file.map(bytes, offset, pointer_to(address))) return status::out_of_memory;
  hold(memory);
  mappings_.emplace(address, mapping{bytes, &memory, {}});
  blocks_.add_registered({.address = address, .bytes = bytes, .kind = block_kind::mapped, .owner = &owner});
  return status::success;
}

status virtual_memory::unmap(device_ptr address, std::size_t bytes) {
  const auto [first, last] = whole_mappings(address, bytes);
  if (first == last) return status::invalid_value;
  mmap(pointer_to(address), bytes, PROT_NONE, no_memory | MAP_FIXED, -1, 0);
  for (auto next = first; next != last; next = mappings_.erase(next)) {
    blocks_.forget(next->first);
    drop(*next->second.of);
  }
  return status::success;
}

status virtual_memory::set_access(device_ptr address, std::size_t bytes, memory_location who, int flags) {
  const auto [first, last] = whole_mappings(address, bytes);
  if (first == last) return status::invalid_value;
  for (auto next = first; next != last; ++next) {
    auto& all = next->second.access;
    all[key_of(who)] = flags;
    const int most = std::ranges::max_element(all, {}, [](const auto& one) { return one.second; })->second;
    // One address space serves all devices and the host, so the widest access is the one that holds.
    mprotect(pointer_to(next->first), next->second.bytes, most ? PROT_READ | PROT_WRITE : PROT_NONE);
    blocks_.set_access(next->first, static_cast<unsigned>(most));
  }
  return status::success;
}

status virtual_memory::access(device_ptr address, memory_location who, int& flags) const {
  const auto found = mapping_at(address);
  if (found == mappings_.end()) return status::invalid_value;
  const auto known = found->second.access.find(key_of(who));
  flags = known == found->second.access.end() ? 0 : known->second;
  return status::success;
}

physical_memory* virtual_memory::mapped_at(device_ptr address) const {
  const auto found = mapping_at(address);
  return found == mappings_.end() ? nullptr : found->second.of;
}

bool virtual_memory::in_one_reservation(device_ptr address, std::size_t bytes) const {
  const auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return address - start <= size && bytes <= size - (address - start);
}

std::pair<virtual_memory::mappings::iterator, virtual_memory::mappings::iterator> virtual_memory::whole_mappings(
    device_ptr address, std::size_t bytes) {
  const std::pair nothing{mappings_.end(), mappings_.end()};
  const auto first = mappings_.find(address);
  device_ptr reached = address;
  auto next = first;
  for (; next != mappings_.end() && next->first == reached && reached < address + bytes; ++next) {
    reached += next->second.bytes;
  }
  return bytes && reached == address + bytes ? std::pair{first, next} : nothing;
}

virtual_memory::mappings::const_iterator virtual_memory::mapping_at(device_ptr address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return mappings_.end();
  const auto candidate = std::prev(after);
  return address - candidate->first < candidate->second.bytes ? candidate : mappings_.end();
}

}  // namespace simcuda
