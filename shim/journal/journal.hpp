// The file: a shared mapping that threads append whole lines to.
//
// * A line that append() took is in the file whatever ends the process: the kernel owns the pages.
// * Threads do not wait for each other but while the file grows. Space is reserved on the disk before it is touched,
//   so a full disk costs lines, not a SIGBUS.
// * No descriptor stays open: programs close descriptors that they do not know. To grow, the file is opened again and
//   checked to be the same.
// * The mapping does not exist in forked children.
// * When the file may not or cannot grow, lines are refused; the last 16 KiB (a quarter of a small one) are kept for
// `essential` ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sys/types.h>

#include "base/spin_lock.hpp"

namespace gpumem {

class Journal {
 public:
  // Creates `path` exclusively, mode 0600, without following a link at its end. False: errno says why.
  bool create(const char* path, std::size_t largest);

  // False if there is no room: the line is not in the file.
  bool append(std::string_view line, bool essential = false);

  // Cuts the file to what is used. Later lines are still taken.
  void trim();

  const char* path() const { return path_; }

 private:
  bool grow(std::size_t needed);
  bool resize(std::size_t size, bool reserve);

  char path_[4096] = "";
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char* bytes_ = nullptr;
  std::size_t largest_ = 0;
  std::size_t kept_for_essential_ = 0;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> reserved_{0};  // bytes of the file that may be touched
  std::atomic<bool> full_{false};
  SpinLock growing_;
};

}  // namespace gpumem
