// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "driver/armed_rule.h"
#include "driver/arrays.h"
#include "driver/blocks.h"
#include "driver/code.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/error_log.h"
#include "driver/foreign.h"
#include "driver/graphs.h"
#include "driver/handles.h"
#include "driver/imports.h"
#include "driver/resource_types.h"
#include "driver/script.h"
#include "driver/virtual_memory.h"

namespace simcuda {

struct stream {
  context* made_in;
  unsigned flags;
  int priority;
  std::uint64_t id;
  stream_capture* capture = nullptr;  // what its work goes into instead of running
};

struct event {
  context* made_in;
  unsigned flags;
  std::optional<std::chrono::steady_clock::time_point> recorded;
  std::uint64_t capture_id = 0;  // recorded in this capture, if it still goes on
  const stream* captured_on = nullptr;
};

struct resource_description {
  device_resource share;
};

struct green_context {
  context* primary;
  context* converted;  // what cuCtxFromGreenCtx answers
  device_resource share;
};

/// The whole simulated machine. Made from SIMCUDA_SCRIPT at the first call and never destroyed: calls may still come
/// while the process ends.
class machine {
 public:
  static machine& instance();

  /// false: the script was refused, and a line on stderr said why.
  bool script_accepted() const noexcept { return script_accepted_; }
  std::vector<armed_rule*> rules_for(const char* call);

  /// What cuInit does, the first time: makes the devices that CUDA_VISIBLE_DEVICES leaves.
  /// false: the script's account cannot be used, and a line on stderr said why.
  bool find_devices();

  /// nullptr when there is no such device.
  device* find_device(device_ordinal ordinal) const;
  device* find_device(const uuid& id) const;
  /// A pool that may be used: created and not destroyed, imported, or a default one.
  bool is_pool(const memory_pool* handle) const;
  /// The default pool of memory that is not plain device memory; it costs no device anything.
  memory_pool*& current_pool(memory_location where, int allocation_type);
  memory_pool* default_pool(memory_location where, int allocation_type);
  /// A stream handle that may be used in the current context: the two default streams or one that was created.
  bool usable(const stream* queue) const;
  /// The capture that the stream takes part in, or nullptr.
  stream_capture* capture_of(const stream* queue) const;
  /// Before work for a stream runs: whether it may be queued, and whether it became a node of a graph instead.
  status queue_work(stream* queue, int type, std::function<void()> work, bool& captured);
  /// All work is finished at once, so a synchronization only lets the device's pools give back memory.
  void synchronize(device& owner) noexcept { owner.trim_pools(); }
  /// Nothing is allocated from the pool any more.
  void retire(memory_pool& pool);
  /// A block of the pool is gone; the last one ends a pool that waits for it.
  void release_to_pool(memory_pool& pool, std::size_t bytes);

  error_log log;

  std::mutex mutex;  // guards everything below
  const script settings;
  std::unique_ptr<shared_account> account;  // that the script names
  std::vector<std::unique_ptr<device>> devices;
  context_table contexts;
  block_table blocks;
  virtual_memory ranges{blocks};
  import_table imports{blocks};
  code_store code;
  handle_table<stream> streams;
  handle_table<event> events;
  graph_store graphs;
  handle_table<device_array> arrays;
  handle_table<mipmapped_array> mipmapped_arrays;
  handle_table<memory_pool> pools;  // those that a program created
  handle_table<external_memory> external_memories;
  handle_table<graphics_resource> graphics_resources;
  handle_table<resource_description> resource_descriptions;
  handle_table<green_context> green_contexts;
  std::uint64_t next_stream_id = 3;

 private:
  explicit machine(std::optional<script> wanted);

  struct special_pool {
    std::unique_ptr<memory_pool> made;
    memory_pool* current;
  };
  special_pool& special(memory_location where, int allocation_type);

  std::map<std::array<int, 3>, special_pool> special_pools_;  // by location and type of allocation
  bool script_accepted_;
  bool devices_found_ = false;
  std::deque<armed_rule> rules_;
};

/// The machine, locked while this lives.
class locked_machine {
 public:
  machine* operator->() const noexcept { return &sim_; }
  machine& operator*() const noexcept { return sim_; }

 private:
  machine& sim_ = machine::instance();
  std::lock_guard<std::mutex> guard_{sim_.mutex};
};

}  // namespace simcuda
