#include "base/process_epoch.hpp"

#include <atomic>

#include <sys/mman.h>
#include <unistd.h>

namespace gpumem {
namespace {

constexpr std::size_t page_size = 4096;

using EpochWord = std::atomic<std::uint32_t>;
std::atomic<EpochWord*> wiped_on_fork{nullptr};
EpochWord no_such_page{0};
EpochWord last_epoch{0};  // copied to children, which count on from it

EpochWord* map_page() {
  void* page = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EpochWord* word = &no_such_page;
  if (page != MAP_FAILED) {
    if (madvise(page, page_size, MADV_WIPEONFORK) == 0) {
      word = static_cast<EpochWord*>(page);
    } else {
      munmap(page, page_size);
    }
  }
  EpochWord* expected = nullptr;
  if (wiped_on_fork.compare_exchange_strong(expected, word)) return word;
  if (word != &no_such_page) munmap(page, page_size);
  return expected;
}

}  // namespace

std::uint32_t process_epoch() {
  EpochWord* word = wiped_on_fork.load(std::memory_order_acquire);
  if (word == nullptr) word = map_page();
  if (word == &no_such_page) return static_cast<std::uint32_t>(getpid());
  std::uint32_t epoch = word->load(std::memory_order_relaxed);
  if (epoch != 0) return epoch;
  const std::uint32_t next = last_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  return word->compare_exchange_strong(epoch, next, std::memory_order_relaxed) ? next : epoch;
}

}  // namespace gpumem
