// SPDX-License-Identifier: Apache-2.0
// Structures of multicast, sparse arrays, external memory and green contexts, in the driver's layout.
#pragma once

#include "driver/types.h"

namespace simcuda {

struct external_memory;
struct graphics_resource;
struct green_context;
struct resource_description;

struct multicast_properties {
  unsigned devices;
  std::size_t bytes;
  unsigned long long handle_types;
  unsigned long long flags;
};

namespace array_operation {
inline constexpr int map = 1, unmap = 2;
}

/// One entry of cuMemMapArrayAsync.
struct array_mapping {
  int resource_type;  // 0 an array, 1 a mipmapped one
  void* resource;
  int part_type;
  unsigned long long part[4];  // which level and region; only compared here
  int operation;
  int handle_type;
  memory_handle memory;
  unsigned long long offset;
  unsigned device_mask;
  unsigned flags;
  unsigned reserved[2];
};

struct sparse_properties {
  unsigned tile_width, tile_height, tile_depth;
  unsigned tail_first_level;
  unsigned long long tail_bytes;
  unsigned flags;
  unsigned reserved[4];
};

struct external_memory_description {
  int type;
  union {
    int descriptor;
    void* named[2];
  };
  unsigned long long bytes;
  unsigned flags;
  unsigned reserved[16];
};

struct external_buffer_description {
  unsigned long long offset;
  unsigned long long bytes;
  unsigned flags;
  unsigned reserved[16];
};

struct external_array_description {
  unsigned long long offset;
  array_description_3d about;
  unsigned levels;
  unsigned reserved[16];
};

/// Only multiprocessors exist as a resource.
struct device_resource {
  int type;
  unsigned char padding[92];
  unsigned multiprocessors, least_partition, alignment;
  unsigned char rest[36];
};

}  // namespace simcuda
