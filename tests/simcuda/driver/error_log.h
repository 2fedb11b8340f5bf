// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

namespace simcuda {

/// The driver's own error log: the newest messages, numbered from 0. Thread-safe.
class error_log {
 public:
  static constexpr std::size_t capacity = 100;

  void add(const std::string& text);

  /// The number of the next message.
  unsigned end() const;

  /// Messages from number *from on, or all that are kept, each ended by a newline; *from becomes end(). `size` is the
  /// buffer's, and then what was written without the NUL. The oldest give way to what does not fit, and a first line
  /// tells of those that are missing. false, and nothing written: not even the newest fits, or *from is beyond the end.
  bool dump(unsigned* from, char* buffer, std::size_t& size) const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> kept_;
  unsigned end_ = 0;
};

}  // namespace simcuda
