// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace simcuda {

/// A nameless file in memory, which several mappings and several processes can share. Closed with its object.
class shared_file {
 public:
  shared_file() = default;
  explicit shared_file(int descriptor) : descriptor_(descriptor) {}
  shared_file(shared_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  shared_file& operator=(shared_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~shared_file();

  /// Sparse: only what is touched costs memory. Not open when the system refuses it.
  static shared_file create(const char* name, std::size_t bytes) noexcept;
  /// The file behind another process's descriptor; not open when that process is gone or another user's.
  static shared_file open_of(int process, int descriptor) noexcept;
  /// The file behind a descriptor that stays the caller's.
  static shared_file duplicate(int descriptor) noexcept;

  /// The descriptor is the caller's from now on.
  int release() noexcept { return std::exchange(descriptor_, -1); }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  std::size_t bytes() const noexcept;
  bool same_as(const shared_file& other) const noexcept;

  /// Shared and without access at first when it replaces a reservation at `fixed`; nullptr when it cannot be mapped.
  void* map(std::size_t bytes, std::size_t offset, void* fixed = nullptr) const noexcept;

 private:
  int descriptor_ = -1;
};

/// The same file under a number that programs do not expect for their own; -1 stays -1.
int moved_away(int descriptor) noexcept;

}  // namespace simcuda
