// SPDX-License-Identifier: Apache-2.0
#include "driver/imports.h"

#include <unistd.h>

#include <algorithm>

#include "driver/device.h"
#include "driver/foreign.h"

namespace simcuda {

bool describe_export(const block& of, memory_export& out) {
  out.process = getpid();
  out.bytes = of.bytes;
  out.id = of.id;
  std::ranges::copy(of.owner->description().uuid, out.owner.bytes);
  return of.owner->addresses().locate(of.address, out.descriptor, out.offset);
}

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
  const block* made = nullptr;
  const status result =
      map_foreign(blocks_, shared_file::open_of(wanted.process, wanted.descriptor), wanted.offset,
                  {.bytes = wanted.bytes, .kind = block_kind::imported, .owner = &owner, .made_in = made_in}, made);
  if (result != status::success) return result;
  out = made->address;
  imports_[out] = {wanted.process, wanted.id, made->id, 1};
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
