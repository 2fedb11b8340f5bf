// SPDX-License-Identifier: Apache-2.0
// The driver's types as far as the simulated functions need them. Own definitions: the simulator builds without the
// CUDA toolkit, whose headers rename symbols by macros. tests/unit/simcuda compares them with the toolkit's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/status.h"

namespace simcuda {

using device_ptr = unsigned long long;
using legacy_device_ptr = unsigned int;  // of the 32-bit interface before CUDA 3.2
using device_ordinal = int;
using host_function = void (*)(void*);

struct context;
struct stream;
struct event;
struct code_module;
struct function;
struct library;
struct kernel;
struct memory_pool;
struct device_array;
struct mipmapped_array;
struct graph;
struct graph_node;
struct executable_graph;

struct uuid {
  unsigned char bytes[16];
};

/// What one process hands to another, by value.
struct ipc_handle {
  char bytes[64];
};

struct memory_location {
  int type;
  int id;
};

inline constexpr int location_device = 1;

inline constexpr int location_host = 2;
inline constexpr int location_host_numa_current = 4;  // the last of the host's

/// A generic allocation handle of virtual memory management.
using memory_handle = unsigned long long;

struct allocation_properties {
  int type;
  int handle_types;
  memory_location location;
  void* win32_data;
  unsigned char compression;
  unsigned char rdma;
  unsigned short usage;
  unsigned char reserved[4];
};

struct access_description {
  memory_location location;
  int flags;  // 0 none, 1 read, 3 read and write
};

struct array_description {
  std::size_t width, height;
  int format;
  unsigned channels;
};

struct array_description_3d {
  std::size_t width, height, depth;
  int format;
  unsigned channels;
  unsigned flags;
};

struct array_requirements {
  std::size_t bytes;
  std::size_t alignment;
  unsigned reserved[4];
};

struct pool_properties {
  int allocation_type;
  int handle_types;
  memory_location location;
  void* win32_security;
  std::size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};

struct allocation_node {
  pool_properties pool;
  const access_description* accesses;
  std::size_t access_count;
  std::size_t bytes;
  device_ptr address;
};

struct generic_node {
  int type;
  int reserved[3];
  union {
    long long padding[29];
    allocation_node allocation;
    device_ptr freed;
  };
  long long end;
};

struct instantiation {
  unsigned long long flags;
  stream* upload;
  graph_node* failed_node;
  int result;
};

struct context_parameters {
  void* affinity;
  int affinity_count;
  void* graphics;
};

struct launch_configuration {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  simcuda::stream* stream;
  void* attributes;
  unsigned attribute_count;
};

enum class memory_type : int { host = 1, device = 2, array = 3, unified = 4 };

/// One side of a two-dimensional copy.
struct copy_side {
  std::size_t x_bytes;
  std::size_t y;
  memory_type type;
  void* host;
  device_ptr device;
  device_array* array;
  std::size_t pitch;
};

struct copy_2d {
  copy_side source;
  copy_side target;
  std::size_t width_bytes;
  std::size_t height;
};

}  // namespace simcuda
