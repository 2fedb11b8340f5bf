// The control group that bounds the process's memory, and what it says now: when it is full the kernel kills.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

// Of the groups that the process is in, from its own to the topmost, the one with the lowest limit.
struct MemoryGroup {
  char folder[512] = "";  // "": none has a limit, or none can be read
  bool is_version_2 = false;
};

struct MemoryGroupState {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::uint64_t used = unknown, limit = unknown;  // bytes; limit unknown: none
  std::uint64_t kills = unknown;                  // processes that the kernel has killed in it for want of memory
};

// `root`: "", or a folder that holds another /proc and /sys. Some file reads for each level; no allocation, no lock.
MemoryGroup find_memory_group(const char* root);

// Three file reads. All is unknown where the group has no folder.
MemoryGroupState memory_group_state(const MemoryGroup& group);

// The machine's memory that can be had without swapping: bytes, or unknown.
std::uint64_t available_memory();

}  // namespace gpumem
