// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/blocks.h"
#include "driver/shared_file.h"

namespace simcuda {

/// Memory of another API. A stand-in of the size that the program named, unless its descriptor is a file that holds as
/// much; it uses none of a device's capacity.
struct external_memory {
  context* made_in;
  std::size_t bytes;
  shared_file file;
};

/// A buffer or image of a graphics API, which is never really asked: a buffer has 1 MiB, an image 256 · 256 pixels.
struct graphics_resource {
  context* made_in;
  bool is_image;
  unsigned flags;
  device_ptr memory = 0;             // of a buffer, while it is mapped
  mipmapped_array* image = nullptr;  // of an image, while it is mapped

  bool is_mapped() const { return memory || image; }
};

/// Shares a part of a file as a block of `wanted`'s kind, owner and context.
status map_foreign(block_table& blocks, const shared_file& file, std::size_t offset, block wanted, const block*& made);

}  // namespace simcuda
