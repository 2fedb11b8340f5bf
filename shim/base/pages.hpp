// Memory from the kernel, zeroed, given back with its owner. Pages that nobody touches cost nothing but addresses.
#pragma once

#include <cstddef>
#include <utility>

#include <sys/mman.h>

namespace gpumem {

class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t size) : size_(size) {
    void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) begin_ = static_cast<char*>(pages);
  }
  ~Pages() {
    if (begin_ != nullptr) munmap(begin_, size_);
  }
  Pages(Pages&& other) : begin_(std::exchange(other.begin_, nullptr)), size_(other.size_) {}
  Pages& operator=(Pages&& other) {
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    return *this;
  }

  explicit operator bool() const { return begin_ != nullptr; }  // false: errno says why
  char* begin() const { return begin_; }
  std::size_t size() const { return size_; }
  char* release() { return std::exchange(begin_, nullptr); }

 private:
  char* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gpumem
