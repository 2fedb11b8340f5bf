#include "stack/python/thread_memory.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pages.hpp"
#include "base/process_epoch.hpp"

namespace gpumem {
namespace {

// The thread that holds a slot, with the process that it lives in: a forked child has its parent's slots, but of its
// parent's threads only one, under another number.
using Owner = std::uint64_t;
constexpr Owner owner_of(std::uint32_t epoch, pid_t thread) {
  return static_cast<Owner>(epoch) << 32 | static_cast<std::uint32_t>(thread);
}

struct Slot {
  std::atomic<Owner> owner{0};
  std::atomic<ThreadMemory*> memory{nullptr};
};

constexpr unsigned most_slots = 256;
constinit Slot slots[most_slots];

struct Mine {
  std::uint32_t epoch;
  ThreadMemory* memory;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Mine mine{0, nullptr};

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

bool is_free(Owner owner, std::uint32_t epoch) {
  if (owner >> 32 != epoch) return true;
  const auto thread = static_cast<pid_t>(owner & 0xffffffff);
  return thread == this_thread() || (syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH);
}

ThreadMemory* begin_anew(Slot& slot) {
  ThreadMemory* memory = slot.memory.load(std::memory_order_relaxed);
  if (memory != nullptr) {
    madvise(static_cast<void*>(memory), sizeof *memory, MADV_DONTNEED);
    return memory;
  }
  Pages pages(sizeof(ThreadMemory));
  if (!pages) return nullptr;
  memory = reinterpret_cast<ThreadMemory*>(pages.release());
  slot.memory.store(memory, std::memory_order_relaxed);
  return memory;
}

}  // namespace

ThreadMemory* thread_memory() {
  const std::uint32_t epoch = process_epoch();
  if (mine.epoch == epoch) return mine.memory;
  mine = {epoch, nullptr};
  const Owner self = owner_of(epoch, this_thread());
  for (Slot& slot : slots) {
    Owner owner = slot.owner.load(std::memory_order_relaxed);
    if (!is_free(owner, epoch) || !slot.owner.compare_exchange_strong(owner, self)) continue;
    mine.memory = begin_anew(slot);
    break;
  }
  return mine.memory;
}

}  // namespace gpumem
