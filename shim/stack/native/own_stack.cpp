#include "stack/native/own_stack.hpp"

#include <cerrno>
#include <cstddef>

#include <pthread.h>

#include "base/readable.hpp"

extern "C" void* __libc_stack_end;

namespace gpumem {
namespace {

// pthread_getattr_np() would tell, but it calls the program's malloc. A thread's descriptor lies at the upper end of
// its stack and holds that block's begin, size and guard; they are known by saying just that.
StackBounds block_of_thread(std::uintptr_t descriptor) {
  constexpr std::size_t searched_bytes = 2048;  // of more than 2,200 in every version
  constexpr std::uintptr_t smallest = 16 * 1024, largest = std::uintptr_t{1} << 40, most_above_descriptor = 64 * 1024;
  const auto* words = reinterpret_cast<const std::uintptr_t*>(descriptor);
  for (std::size_t i = 0; i + 2 < searched_bytes / sizeof *words; ++i) {
    const std::uintptr_t begin = words[i], size = words[i + 1], guard = words[i + 2];
    if (size < smallest || size > largest || begin < largest / size || begin >= descriptor) continue;
    if (begin + size > descriptor && begin + size - descriptor <= most_above_descriptor && guard < size)
      return {begin + guard, descriptor};
  }
  return {};
}

// No mapping comes within the kernel's guard gap below the main thread's stack, so what can be read all the way up is
// that stack.
StackBounds main_stack_from(std::uintptr_t stack_pointer, StackBounds known) {
  constexpr std::uintptr_t page = 4096, farthest = std::uintptr_t{64} << 20;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  if (stack_pointer >= end || end - stack_pointer > farthest) return {};
  const std::uintptr_t lo = stack_pointer & -page, unknown_up_to = known.hi == end ? known.lo : end;
  const int saved_errno = errno;
  std::uintptr_t at = lo;
  while (at < unknown_up_to && is_readable(at)) at += page;
  errno = saved_errno;
  return at < unknown_up_to ? StackBounds{} : StackBounds{lo, end};
}

}  // namespace

StackBounds own_stack(std::uintptr_t stack_pointer, StackBounds known) {
  if (known.contains(stack_pointer)) return known;
  const StackBounds block = block_of_thread(static_cast<std::uintptr_t>(pthread_self()));
  const StackBounds found = block.hi != 0 ? block : main_stack_from(stack_pointer, known);
  return found.contains(stack_pointer) ? found : StackBounds{};
}

}  // namespace gpumem
