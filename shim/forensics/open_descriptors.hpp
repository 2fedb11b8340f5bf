// The descriptors that this process has open, one by one.
//
// Nothing but system calls: also for a process that shares its memory with another. Needs /proc and a free descriptor.
#pragma once

#include <cstddef>

namespace gpumem {

class OpenDescriptors {
 public:
  OpenDescriptors();
  ~OpenDescriptors();
  OpenDescriptors(const OpenDescriptors&) = delete;
  OpenDescriptors& operator=(const OpenDescriptors&) = delete;

  bool known() const { return folder_ >= 0; }
  // The next one, in order; -1 after the last. Those that are closed meanwhile disturb nothing.
  int next();

 private:
  int folder_;
  std::size_t at_ = 0, end_ = 0;
  alignas(8) char entries_[2048];
};

}  // namespace gpumem
