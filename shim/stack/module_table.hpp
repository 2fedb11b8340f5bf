// The files that the addresses of stacks belong to, with a number for each.
//
// A file keeps its number while it stays mapped at the same place; one that comes back elsewhere is a new one.
// Old entries stay: their stacks are already written.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"
#include "base/loaded_objects.hpp"
#include "base/spin_lock.hpp"

namespace gpumem {

struct Module {
  std::uint32_t number = 0;  // from 1
  const char* path = "";
  std::uintptr_t base = 0, lo = 0, hi = 0;
  std::array<unsigned char, 32> build_id{};
  std::size_t build_id_size = 0;
  // In numbers of libraries that had gone before: when it was first and no longer seen.
  std::uint64_t since = 0;
  std::atomic<std::uint64_t> gone{~std::uint64_t{0}};
  std::atomic<unsigned> seen_by{0};          // number of the update that saw it last
  std::atomic<std::uint32_t> written_in{0};  // for the journal's use: the latest segment that it is in, 0: none
};

class ModuleTable {
 public:
  static constexpr std::size_t capacity = 4096;

  // Walks the loader's list if it has changed since the last time.
  void update();

  // The module that held the address at the last update; nullptr for code outside every file, and when the table is
  // full.
  Module* find(std::uintptr_t address);

  // The one that held the address when so many libraries had gone (Stack::generation).
  Module* find(std::uintptr_t address, std::uint64_t generation);

 private:
  struct Listing;

  bool add_from(const Listing& listing, unsigned update, std::uint64_t removed);
  void add(const LoadedObject& object, const unsigned char* build_id, std::size_t build_id_size, unsigned update,
           std::uint64_t removed);

  SpinLock lock_;
  Arena arena_;
  std::array<std::atomic<Module*>, capacity> modules_{};
  std::atomic<std::size_t> count_{0};
  std::atomic<unsigned> updates_{0};
  std::atomic<std::uint64_t> seen_added_{~std::uint64_t{0}}, seen_removed_{0};
};

}  // namespace gpumem
