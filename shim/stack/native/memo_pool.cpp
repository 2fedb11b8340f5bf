#include "stack/native/memo_pool.hpp"

#include <cerrno>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process_epoch.hpp"

namespace gpumem {
namespace {

// Needs no notice at a thread's end, which the C library would allocate for.
bool has_ended(pid_t thread) {
  const int saved_errno = errno;
  const bool ended = syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
  errno = saved_errno;
  return ended;
}

}  // namespace

StackMemo* MemoPool::find_abandoned() {
  constexpr unsigned most_checked = 16;
  const std::uint32_t epoch = process_epoch();
  for (unsigned checked = 0; checked < most_checked && checked < count_; ++checked) {
    if (next_to_check_ == nullptr) next_to_check_ = first_;
    StackMemo* memo = next_to_check_;
    next_to_check_ = memo->next_memo_;
    if (memo->epoch_.load(std::memory_order_relaxed) != epoch || has_ended(memo->thread_)) return memo;
  }
  return nullptr;
}

StackMemo* MemoPool::make() {
  constexpr std::size_t size = sizeof(StackMemo) + StackMemo::first_size;
  if (bytes_ + size > most_bytes) return nullptr;
  auto* memo = static_cast<StackMemo*>(arena_.here().take(size));
  if (memo == nullptr) return nullptr;
  memo->room_ = reinterpret_cast<char*>(memo + 1);
  memo->size_ = StackMemo::first_size;
  memo->next_memo_ = first_;
  first_ = memo;
  bytes_ += size;
  ++count_;
  return memo;
}

StackMemo* MemoPool::take() {
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  LockGuard guard(lock_);
  StackMemo* memo = find_abandoned();
  if (memo == nullptr && (memo = make()) == nullptr) return nullptr;
  memo->in_use_ = false;
  memo->bounds_ = {};
  memo->forget();
  memo->thread_ = thread;
  // In this order: whoever sees this process's number sees whose it is.
  memo->descriptor_.store(static_cast<std::uintptr_t>(pthread_self()), std::memory_order_relaxed);
  memo->epoch_.store(process_epoch(), std::memory_order_release);
  return memo;
}

char* MemoPool::exchange_room(char* room, std::size_t size, std::size_t bigger) {
  LockGuard guard(lock_);
  if (bytes_ + bigger > most_bytes) return nullptr;
  auto* fresh = static_cast<char*>(arena_.here().take(bigger));
  if (fresh == nullptr) return nullptr;
  bytes_ += bigger;
  if (size > StackMemo::first_size) {
    arena_.here().give_back(room, size);
    bytes_ -= size;
  }
  return fresh;
}

std::size_t MemoPool::count() {
  LockGuard guard(lock_);
  return count_;
}

}  // namespace gpumem
