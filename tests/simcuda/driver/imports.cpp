// SPDX-License-Identifier: Apache-2.0
#include "driver/imports.h"

#include <algorithm>

#include "driver/shared_file.h"

namespace simcuda {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

status import_table::open(const memory_export& wanted, device& owner, context* made_in, device_ptr& out) {
  // The end of a context closes what was opened in it without a word here.
  std::erase_if(imports_, [this](const auto& entry) {
    const block* known = blocks_.starting_at(entry.first);
    return !known || known->id != entry.second.block_id;
  });
  for (auto& [address, known] : imports_) {
    if (known.process != wanted.process || known.id != wanted.id) continue;
    ++known.uses;
    out = address;
    return status::success;
  }
  const shared_file file = shared_file::open_of(wanted.process, wanted.descriptor);
  const std::size_t lead = wanted.offset % page;
  if (!file.is_open() || wanted.offset + wanted.bytes > file.bytes()) return status::invalid_value;
  void* memory = file.map(lead + wanted.bytes, wanted.offset - lead);
  if (!memory) return status::out_of_memory;
  out = reinterpret_cast<device_ptr>(memory) + lead;
  const block& made = blocks_.add_registered(
      {.address = out, .bytes = wanted.bytes, .kind = block_kind::imported, .owner = &owner, .made_in = made_in});
  imports_[out] = {wanted.process, wanted.id, made.id, 1};
  return status::success;
}

status import_table::close(device_ptr address) {
  const auto found = imports_.find(address);
  const block* known = blocks_.starting_at(address);
  if (found == imports_.end() || !known || known->id != found->second.block_id) return status::invalid_value;
  if (--found->second.uses) return status::success;
  blocks_.free(*known);
  imports_.erase(found);
  return status::success;
}

}  // namespace simcuda
