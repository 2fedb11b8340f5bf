// Memory for the shim's tables: pages from the kernel, never the program's malloc.
//
// A hook may run inside an allocator that someone replaced, with that allocator's locks held. The sum over all arenas
// is bounded by a budget.
// Not thread-safe; each arena belongs to the lock of the table that uses it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/process_epoch.hpp"

namespace gpumem {

class Arena {
 public:
  // Zeroed memory, aligned to 16 bytes; nullptr when the budget or the system is exhausted.
  void* take(std::size_t bytes);

  template <class T>
  T* take_array(std::size_t count) {
    return static_cast<T*>(take(count * sizeof(T)));
  }

  // Returns a large piece to the system and to the budget; keeps a small one for the next of the same size.
  void give_back(void* piece, std::size_t bytes);

  // Bytes that all arenas of this process may take together.
  static void set_budget(std::size_t bytes);

 private:
  struct Piece {
    Piece* next;
    std::size_t size;
  };

  void* take_again(std::size_t bytes);

  char* next_ = nullptr;
  std::size_t left_ = 0;
  Piece* given_back_ = nullptr;
};

// For tables that a forked child goes on using: whatever its parent's threads were just taking is left alone there.
class ProcessArena {
 public:
  Arena& here() {
    if (epoch_ != process_epoch()) arena_ = {};
    epoch_ = process_epoch();
    return arena_;
  }

 private:
  Arena arena_;
  std::uint32_t epoch_ = 0;
};

}  // namespace gpumem
