// Stacks seen so far, each once, with a number.
//
// Look-ups of known stacks take no lock. Numbers start at 1; 0 means that no stack is known (budget used up).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/intern_table.hpp"

namespace gpumem {

struct Stack {
  std::uint64_t hash = 0;
  std::uint32_t number = 0;
  std::uint32_t generation = 0;  // of the set of loaded libraries: the same addresses can come to mean others
  std::uint32_t depth = 0;
  // For the journal's use: whether frames are missing at the end, and the latest segment that it is in (0: none).
  std::atomic<bool> cut{false};
  std::atomic<std::uint32_t> written_in{0};
  void* frames[1];  // `depth` of them
};

class StackTable {
 public:
  // The stack's entry; nullptr if there is no memory left or the stack is empty. Entries live as long as the table.
  Stack* intern(void* const* frames, unsigned depth, std::uint32_t generation);

  // nullptr where no stack has this number.
  Stack* at(std::uint32_t number) { return table_.at(number); }

 private:
  InternTable<Stack> table_;
};

}  // namespace gpumem
