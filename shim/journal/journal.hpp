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

  // How much a line matters when room is short: each keeps room for those after it. last_words never waits for
  // anything: for a thread that may have been interrupted in the middle of the shim's own work.
  enum class Importance { ordinary, notable, essential, last_words };

  // False if there is no room: the line is not in the file.
  bool append(std::string_view line, Importance importance = Importance::ordinary);

  // Cuts the file to what is used. Later lines are still taken.
  void trim();

  // Deletes the file.
  void remove();

  const char* path() const { return path_; }

 private:
  bool grow(std::size_t needed);
  bool change_size(std::size_t from, std::size_t to);

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
