#include "stack/native/stack_memo.hpp"

#include <cstring>

#include <pthread.h>

#include "base/process_epoch.hpp"
#include "stack/native/memo_pool.hpp"

namespace gpumem {

struct StackMemo::Entry {
  Entry* next;
  Registers start;
  void* note;
  std::uint32_t cell_count;
  std::uint16_t depth, capacity;
  bool used_rbp;
  WalkTrace::Cell cells[];

  void** addresses() { return reinterpret_cast<void**>(cells + cell_count); }
  std::uintptr_t* ends() { return reinterpret_cast<std::uintptr_t*>(addresses() + depth); }
  static std::size_t size(std::size_t cells, std::size_t depth) {
    return sizeof(Entry) + cells * sizeof(WalkTrace::Cell) + depth * (sizeof(void*) + sizeof(std::uintptr_t));
  }

  bool is_of(const Registers& registers, unsigned wanted) const {
    return start.sp == registers.sp && start.pc == registers.pc && capacity == wanted &&
           (!used_rbp || start.rbp == registers.rbp);
  }
  bool still_holds() const {
    for (std::uint32_t i = 0; i < cell_count; ++i)
      if (*reinterpret_cast<const std::uintptr_t*>(cells[i].address) != cells[i].value) return false;
    return true;
  }
};

namespace {

// A pointer is all that fits everywhere: a library that was opened late has little room for more.
constinit thread_local StackMemo* of_thread __attribute__((tls_model("initial-exec"))) = nullptr;
constinit StackMemo no_memo;

void fence_for_signal_handlers() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace

StackMemo* StackMemo::of_this_thread() {
  StackMemo* known = of_thread;
  if (known == &no_memo) return nullptr;
  // After a fork, another thread of the child may have taken it.
  if (known != nullptr && known->epoch_.load(std::memory_order_acquire) == process_epoch() &&
      known->descriptor_.load(std::memory_order_relaxed) == static_cast<std::uintptr_t>(pthread_self()))
    return known;
  known = memo_pool.take();
  of_thread = known != nullptr ? known : &no_memo;
  return known;
}

StackMemo::Use::Use(std::uint32_t generation) : memo_(of_this_thread()) {
  if (memo_ != nullptr && memo_->in_use_) memo_ = nullptr;
  if (memo_ == nullptr) return;
  memo_->in_use_ = true;
  fence_for_signal_handlers();
  if (memo_->generation_ == generation) return;
  memo_->forget();
  memo_->generation_ = generation;
}

StackMemo::Use::~Use() {
  fence_for_signal_handlers();
  if (memo_ != nullptr) memo_->in_use_ = false;
}

StackBounds StackMemo::bounds(std::uintptr_t stack_pointer) {
  const StackBounds found = own_stack(stack_pointer, bounds_);
  if (found.contains(stack_pointer)) bounds_ = found;
  return found;
}

bool StackMemo::recall(const Registers& start, unsigned capacity, StackCapture& capture) {
  constexpr unsigned most_looked_at = 8;
  Entry* entry = chain(start.sp);
  for (unsigned looked_at = 0; entry != nullptr && looked_at < most_looked_at; entry = entry->next, ++looked_at) {
    if (!entry->is_of(start, capacity) || !entry->still_holds()) continue;
    capture.addresses = entry->addresses();
    capture.ends = entry->ends();
    capture.depth = entry->depth;
    capture.source = StackSource::memo;
    capture.note = &entry->note;
    return true;
  }
  return false;
}

WalkTrace StackMemo::blank() {
  WalkTrace trace;
  if (size_ - used_ <= sizeof(Entry)) return trace;
  trace.cells = next_entry()->cells;
  trace.capacity = static_cast<std::uint32_t>((size_ - used_ - sizeof(Entry)) / sizeof(WalkTrace::Cell));
  return trace;
}

void StackMemo::store(const Registers& start, unsigned capacity, const WalkTrace& trace, StackCapture& capture) {
  const std::size_t size = Entry::size(trace.count, capture.depth);
  if (!trace.is_whole || size > size_ - used_) return make_room();
  Entry* entry = next_entry();
  Entry*& first = chain(start.sp);
  entry->next = first;
  entry->start = start;
  entry->note = nullptr;
  entry->cell_count = trace.count;
  entry->depth = static_cast<std::uint16_t>(capture.depth);
  entry->capacity = static_cast<std::uint16_t>(capacity);
  entry->used_rbp = trace.used_rbp;
  std::memcpy(entry->addresses(), capture.addresses, capture.depth * sizeof(void*));
  std::memcpy(entry->ends(), capture.ends, capture.depth * sizeof(std::uintptr_t));
  used_ += size;
  first = entry;
  capture.note = &entry->note;
}

void StackMemo::forget() {
  used_ = 0;
  std::memset(chains_, 0, sizeof chains_);
}

// What did not fit fits the next time, if it ever can.
void StackMemo::make_room() {
  const std::size_t size = size_ * growth;
  if (char* room = size <= largest_size ? memo_pool.exchange_room(room_, size_, size) : nullptr) {
    room_ = room;
    size_ = size;
  } else if (used_ == 0) {
    return;
  }
  forget();
}

}  // namespace gpumem
