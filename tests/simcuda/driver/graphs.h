// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "driver/handles.h"
#include "driver/types.h"

namespace simcuda {

class device;

/// The memory of an allocation node. Its address is fixed while a graph, an executable graph or a live block knows it;
/// memory is behind it from a launch until it is freed.
struct graph_allocation {
  graph_allocation(device& owner, std::size_t bytes, device_ptr address)
      : owner(owner), bytes(bytes), address(address) {}
  ~graph_allocation();
  graph_allocation(const graph_allocation&) = delete;
  graph_allocation& operator=(const graph_allocation&) = delete;

  device& owner;
  std::size_t bytes;
  device_ptr address;
  bool attached = false;
};

struct graph_node {
  int type = 0;
  std::function<void()> work = nullptr;  // at every launch, outside the lock
  std::shared_ptr<graph_allocation> memory = nullptr;
  device_ptr freed = 0;
};

namespace node_type {
inline constexpr int kernel = 0, memcpy = 1, memset = 2, host = 3, empty = 5, memory_allocation = 10, memory_free = 11;
}

struct graph {
  std::vector<std::shared_ptr<graph_node>> nodes;  // each after those that it depends on
  const executable_graph* instantiated = nullptr;  // with nodes that allocate there can be only one
};

struct executable_graph {
  graph* from;
  bool frees_on_launch;
  std::vector<std::shared_ptr<graph_node>> nodes;
};

namespace capture_mode {
inline constexpr int global = 0, thread_local_only = 1, relaxed = 2;
}

/// A capture under way: what is queued to its streams becomes nodes of its graph.
struct stream_capture {
  graph* into;
  stream* origin;
  int mode;
  std::thread::id begun_by;
  std::uint64_t id;
  bool invalidated = false;
  bool into_own_graph = true;
  std::set<const stream*> unjoined = {};
  std::map<const stream*, graph_node*> last = {};
};

/// Graphs and captures. Guarded by machine::mutex.
class graph_store {
 public:
  handle_table<graph> graphs;
  handle_table<executable_graph> executables;

  graph_node* add(graph& to, graph_node made);
  /// nullptr: in no graph.
  graph* owner_of(const graph_node* node);
  bool contains(const graph_node* node) { return owner_of(node) != nullptr; }
  /// 2 when the device's addresses are used up.
  status add_allocation(graph& to, device& owner, std::size_t bytes, graph_node*& made);
  /// 1 when no node allocates this address.
  status add_free(graph& to, device_ptr address, graph_node*& made);
  void destroy(graph* gone);
  void destroy(executable_graph* gone);

  /// The allocation that has this address, or nullptr.
  std::shared_ptr<graph_allocation> allocation_at(device_ptr address) const;

  /// Into a graph of its own where there is none yet.
  stream_capture* begin(stream* origin, int mode, graph* into = nullptr);
  void end(stream_capture& over);
  /// nullptr: over already.
  stream_capture* capture(std::uint64_t id) const;
  /// Answers `why`, for callers to return.
  static status invalidate(stream_capture& broken, status why) {
    broken.invalidated = true;
    return why;
  }
  /// A call that could break captures: 900 and an end of those that it may not be made beside.
  status unsafe_call();
  /// Work for the default stream, which waits for all blocking streams: 906 when one of them is being captured.
  status default_stream_work();

 private:
  std::map<device_ptr, std::weak_ptr<graph_allocation>> allocations_;
  std::vector<std::unique_ptr<stream_capture>> captures_;
  std::uint64_t next_capture_id_ = 1;
};

/// The calling thread's mode, which says what unsafe calls it may make.
int& thread_capture_mode();

}  // namespace simcuda
