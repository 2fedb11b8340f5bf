// Reads of memory that the interpreter's own structures lead to.
//
// A probing reader asks the kernel about each page first and so survives any pointer; the other one loads plainly.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/readable.hpp"

namespace gpumem {

template <bool probes>
class MemoryReader {
 public:
  template <class T>
  bool read(std::uintptr_t address, T& value) {
    if (!can_read(address, sizeof value)) return false;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return true;
  }

  // Changes errno where it probes.
  bool can_read(std::uintptr_t address, std::uint64_t size) {
    constexpr std::uintptr_t first = 4096, last = std::uintptr_t{1} << 47;
    if (address < first || address >= last || size > last - address) return false;
    if constexpr (probes) {
      const std::uintptr_t end = address + size;
      for (std::uintptr_t page = address & ~page_mask; page < end; page += page_mask + 1)
        if (!is_page_readable(page)) return false;
    }
    return true;
  }

 private:
  static constexpr std::uintptr_t page_mask = 4095;

  bool is_page_readable(std::uintptr_t page) {
    std::uintptr_t& known = known_[page / (page_mask + 1) % known_count];
    if (known == page) return true;
    if (!is_readable(page)) return false;
    known = page;
    return true;
  }

  static constexpr unsigned known_count = probes ? 8 : 1;
  std::uintptr_t known_[known_count]{};
};

}  // namespace gpumem
