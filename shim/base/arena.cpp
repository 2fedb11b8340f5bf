#include "base/arena.hpp"

#include <atomic>
#include <cstring>

#include <new>

#include <sys/mman.h>

namespace gpumem {
namespace {

constexpr std::size_t chunk_size = 64 * 1024;
constexpr std::size_t page_size = 4096;
std::atomic<std::size_t> budget{0};

void* take_pages(std::size_t bytes) {
  std::size_t left = budget.load(std::memory_order_relaxed);
  do {
    if (bytes > left) return nullptr;
  } while (!budget.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

constexpr bool is_large(std::size_t bytes) { return bytes >= chunk_size / 2; }
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }
constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page_size - 1) & ~(page_size - 1); }

}  // namespace

void* Arena::take_again(std::size_t bytes) {
  for (Piece** place = &given_back_; *place != nullptr; place = &(*place)->next) {
    if ((*place)->size != bytes) continue;
    Piece* piece = *place;
    *place = piece->next;
    return std::memset(piece, 0, bytes);
  }
  return nullptr;
}

void* Arena::take(std::size_t bytes) {
  bytes = aligned(bytes);
  if (is_large(bytes)) return take_pages(whole_pages(bytes));
  if (void* again = take_again(bytes)) return again;
  if (bytes > left_) {
    char* chunk = static_cast<char*>(take_pages(chunk_size));
    if (chunk == nullptr) return nullptr;
    next_ = chunk;
    left_ = chunk_size;
  }
  void* taken = next_;
  next_ += bytes;
  left_ -= bytes;
  return taken;
}

void Arena::give_back(void* piece, std::size_t bytes) {
  bytes = aligned(bytes);
  if (piece == nullptr || bytes == 0) return;
  if (!is_large(bytes)) {
    given_back_ = new (piece) Piece{given_back_, bytes};
    return;
  }
  munmap(piece, whole_pages(bytes));
  budget.fetch_add(whole_pages(bytes), std::memory_order_relaxed);
}

void Arena::set_budget(std::size_t bytes) { budget.store(bytes, std::memory_order_relaxed); }

}  // namespace gpumem
