// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "driver/types.h"
#include "driver/virtual_memory.h"

namespace simcuda {

class machine;

/// A part of a deferred or sparse array that has memory.
struct array_part {
  int type;
  std::array<unsigned long long, 4> place;
  memory_hold memory;
};

/// Memory that is addressed by coordinates. Laid out row by row here, where a device has tiles.
struct device_array {
  context* made_in;
  array_description_3d about;
  device_ptr memory;                    // 0: deferred or sparse, backed by nothing
  mipmapped_array* level_of = nullptr;  // owns nothing then
  std::vector<array_part> parts = {};
};

struct mipmapped_array {
  context* made_in;
  array_description_3d about;  // of level 0
  device_ptr memory;
  std::vector<device_array*> levels = {};
  std::vector<array_part> parts = {};
};

namespace array_flag {
inline constexpr unsigned layered = 1, cubemap = 4, sparse = 0x40, deferred = 0x80, all = 0xff;
}

/// 0: a format, a number of channels or flags that no array may have.
std::size_t element_bytes(const array_description_3d& about);
/// Whether the format is one of those that are simulated: the plain ones and the normalised ones.
bool has_known_format(const array_description_3d& about);
std::size_t row_bytes(const array_description_3d& about);
std::size_t array_bytes(const array_description_3d& about);
array_description_3d level_of(const array_description_3d& about, unsigned level);
unsigned most_levels(const array_description_3d& about);
std::size_t chain_bytes(const array_description_3d& about, unsigned levels);

/// In the current context, over memory that becomes the array's own (0: none yet).
mipmapped_array* make_mipmapped(machine& sim, const array_description_3d& about, unsigned levels, device_ptr memory);
void destroy_mipmapped(machine& sim, const mipmapped_array* gone);
void give_back_array(machine& sim, device_ptr memory);

}  // namespace simcuda
