// Memory for the shim's tables: pages from the kernel, never the program's malloc.
//
// A hook may run inside an allocator that someone replaced, with that allocator's locks held. Small pieces are
// never given back: tables grow and live as long as the process. The sum over all arenas is bounded by a budget.
// Not thread-safe; each arena belongs to the lock of the table that uses it.
#pragma once

#include <cstddef>

namespace gpumem {

class Arena {
 public:
  // Zeroed memory, aligned to 16 bytes; nullptr when the budget or the system is exhausted.
  void* take(std::size_t bytes);

  template <class T>
  T* take_array(std::size_t count) {
    return static_cast<T*>(take(count * sizeof(T)));
  }

  // Returns a large piece to the system and to the budget; keeps a small one, which shares its page with others.
  void give_back(void* piece, std::size_t bytes);

  // Bytes that all arenas of this process may take together.
  static void set_budget(std::size_t bytes);

 private:
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace gpumem
