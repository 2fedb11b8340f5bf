// The memory that a process did not give back, by call site and by what happened to it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/live_table.hpp"

namespace gpumem {

enum class LeakClass {
  growing,        // live at the end, and kept rising over the site's lifetime
  held,           // live at the end, rose once or came to rest
  free_failed,    // the program tried to free it and the call failed
  dropped,        // ended with its context: nobody freed it
  freed_at_exit,  // freed by destructors after the exit handlers had begun; not a leak
};

struct Leak {
  LeakClass what = LeakClass::held;
  SiteKey site;
  Usage amount;
  Usage allocated;             // everything that the site ever allocated
  std::uint64_t first_ns = 0;  // of the site's allocations
  std::uint64_t last_ns = 0;
  std::vector<std::int64_t> minima;  // least live bytes per window of the site's lifetime

  // Of what is live and was not tried to be freed, with the rest of the site:
  std::int64_t further_references = 0;  // beyond the one that each block was born with
  std::int64_t exported = 0;            // blocks that other processes may hold too
  std::optional<SiteKey> owner;         // where the block came from that the latest one belongs to
};

// Largest first within each class, classes in the order of the enumeration.
std::vector<Leak> classify_leaks(const LiveTable& table, std::uint64_t end_ns);

}  // namespace gpumem
