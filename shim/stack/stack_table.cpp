#include "stack/stack_table.hpp"

#include <cstring>

namespace gpumem {
namespace {

std::uint64_t hash_frames(void* const* frames, unsigned depth, std::uint32_t generation) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull ^ generation;
  for (unsigned i = 0; i < depth; ++i) {
    h ^= reinterpret_cast<std::uintptr_t>(frames[i]);
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

Stack* StackTable::intern(void* const* frames, unsigned depth, std::uint32_t generation) {
  if (depth == 0) return nullptr;
  const std::size_t size = depth * sizeof(void*);
  return table_.intern(
      hash_frames(frames, depth, generation), sizeof(Stack) + size - sizeof(void*),
      [&](const Stack& known) {
        return known.depth == depth && known.generation == generation && std::memcmp(known.frames, frames, size) == 0;
      },
      [&](Stack& fresh) {
        fresh.generation = generation;
        fresh.depth = depth;
        std::memcpy(fresh.frames, frames, size);
      });
}

}  // namespace gpumem
