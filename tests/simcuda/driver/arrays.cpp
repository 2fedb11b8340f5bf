// SPDX-License-Identifier: Apache-2.0
#include "driver/arrays.h"

#include <algorithm>
#include <bit>

#include "driver/machine.h"

namespace simcuda {
namespace {

/// 0: not simulated. Of a normalised format the number of channels is part of its number.
std::size_t bytes_of_channel(int format) {
  switch (format) {
    case 0x01:
    case 0x08: return 1;
    case 0x02:
    case 0x09:
    case 0x10: return 2;
    case 0x03:
    case 0x0a:
    case 0x20: return 4;
    case 0xc0:
    case 0xc1:
    case 0xc2:
    case 0xc6:
    case 0xc7:
    case 0xc8: return 1;
    case 0xc3:
    case 0xc4:
    case 0xc5:
    case 0xc9:
    case 0xca:
    case 0xcb: return 2;
    default: return 0;
  }
}

std::size_t at_least_one(std::size_t extent) { return std::max<std::size_t>(extent, 1); }

}  // namespace

bool has_known_format(const array_description_3d& about) { return bytes_of_channel(about.format) != 0; }

std::size_t element_bytes(const array_description_3d& about) {
  const bool channels_are_valid = about.channels == 1 || about.channels == 2 || about.channels == 4;
  return channels_are_valid && !(about.flags & ~array_flag::all) ? bytes_of_channel(about.format) * about.channels : 0;
}

std::size_t row_bytes(const array_description_3d& about) { return about.width * element_bytes(about); }

std::size_t array_bytes(const array_description_3d& about) {
  return row_bytes(about) * at_least_one(about.height) * at_least_one(about.depth);
}

array_description_3d level_of(const array_description_3d& about, unsigned level) {
  const auto smaller = [level](std::size_t extent) { return extent ? at_least_one(extent >> level) : 0; };
  array_description_3d result = about;
  result.width = smaller(about.width);
  result.height = smaller(about.height);
  if (!(about.flags & array_flag::layered)) result.depth = smaller(about.depth);
  return result;
}

unsigned most_levels(const array_description_3d& about) {
  const std::size_t depth = about.flags & array_flag::layered ? 0 : about.depth;
  return static_cast<unsigned>(std::bit_width(std::max({about.width, about.height, depth})));
}

std::size_t chain_bytes(const array_description_3d& about, unsigned levels) {
  std::size_t sum = 0;
  for (unsigned level = 0; level < levels; ++level) sum += array_bytes(level_of(about, level));
  return sum;
}

mipmapped_array* make_mipmapped(machine& sim, const array_description_3d& about, unsigned levels, device_ptr memory) {
  mipmapped_array* made = sim.mipmapped_arrays.create(&current_context(), about, memory);
  for (unsigned level = 0; level < levels; ++level) {
    const device_ptr start = memory ? memory + chain_bytes(about, level) : 0;
    made->levels.push_back(sim.arrays.create(&current_context(), level_of(about, level), start, made));
  }
  return made;
}

void destroy_mipmapped(machine& sim, const mipmapped_array* gone) {
  for (const device_array* level : gone->levels) sim.arrays.destroy(level);
  give_back_array(sim, gone->memory);
  sim.mipmapped_arrays.destroy(gone);
}

void give_back_array(machine& sim, device_ptr memory) {
  if (const block* backing = memory ? sim.blocks.starting_at(memory) : nullptr) sim.blocks.free(*backing);
}

}  // namespace simcuda
