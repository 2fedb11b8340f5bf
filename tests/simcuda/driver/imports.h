// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "driver/blocks.h"
#include "driver/types.h"

namespace simcuda {

class device;

/// What cuIpcGetMemHandle writes: where the block is in the exporter's device file. Valid while the exporter lives.
struct memory_export {
  char mark[8] = "simmem";
  int process = 0;
  int descriptor = -1;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::uint64_t id = 0;  // of the block, so that a reused address is another one
  uuid owner{};
};

/// false: the block cannot be shared, because the system refused the file behind it.
bool describe_export(const block& of, memory_export& out);

/// What cuIpcGetEventHandle writes. Work is done when it is queued, so an event has nothing more to tell.
struct event_export {
  char mark[8] = "simevnt";
  int process = 0;
  std::uint64_t id = 0;
};

static_assert(sizeof(memory_export) <= sizeof(ipc_handle) && sizeof(event_export) <= sizeof(ipc_handle));

/// Blocks of other processes. Opening one twice gives the same address, which is to be closed twice. Guarded by
/// machine::mutex.
class import_table {
 public:
  explicit import_table(block_table& blocks) : blocks_(blocks) {}

  status open(const memory_export& wanted, device& owner, context* made_in, device_ptr& out);
  status close(device_ptr address);

 private:
  struct import {
    int process;
    std::uint64_t id;
    std::uint64_t block_id;
    int uses;
  };

  block_table& blocks_;
  std::map<device_ptr, import> imports_;
};

}  // namespace simcuda
