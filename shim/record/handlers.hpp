// What is done for each action of a call: one handler for each, by theme in the files of this folder.
//
// Order, so that another thread that gets the same address at once cannot be mistaken: what ends leaves its table
// before the real call and comes back if that fails; what begins enters its table after it.
#pragma once

#include <string_view>

#include "intercept/call.hpp"

namespace gpumem {

struct Session;

struct Handler {
  std::string_view op;    // what happens, in the journal's words
  bool can_hang = false;  // its entry is recorded too
  void (*before)(Session&, Call&) = nullptr;
  void (*succeeded)(Session&, Call&) = nullptr;
  void (*failed)(Session&, Call&) = nullptr;  // puts back; the failure itself is recorded elsewhere
};

const Handler& handler_of(Action action);

// Starts and contexts
extern const Handler starting, context_creation, primary_retain, context_destruction, primary_release, primary_reset,
    current_reset, version_answer;
// Blocks of memory, and objects
extern const Handler allocation, pool_allocation, reopening, registration, release;
// Virtual memory
extern const Handler physical_creation, physical_retain, physical_release, mapping, unmapping, tile_mapping, binding,
    address_binding, unbinding;
// Graphs and graphics
extern const Handler graph_node, instantiation, capture_begin, capture_end, resource_view, resource_unmapping;
// What the driver takes without being asked for memory
extern const Handler pool_choice, limit_change, export_, launch, trimming, memory_need;
// What only its failure is told of
extern const Handler use;

}  // namespace gpumem
