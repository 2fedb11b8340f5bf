// SPDX-License-Identifier: Apache-2.0
#include "driver/foreign.h"

namespace simcuda {

status map_foreign(block_table& blocks, const shared_file& file, std::size_t offset, block wanted, const block*& made) {
  constexpr std::size_t page = 4096;
  const std::size_t lead = offset % page;
  if (!file.is_open() || offset > file.bytes() || wanted.bytes > file.bytes() - offset) return status::invalid_value;
  void* memory = file.map(lead + wanted.bytes, offset - lead);
  if (!memory) return status::out_of_memory;
  wanted.address = reinterpret_cast<device_ptr>(memory) + lead;
  made = &blocks.add_registered(wanted);
  return status::success;
}

}  // namespace simcuda
