// SPDX-License-Identifier: Apache-2.0
#include "driver/error_log.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

namespace simcuda {
namespace {

constexpr char missing[] = "[CUDA][W] older messages are missing\n";

std::string stamped(const std::string& text) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  char head[64];
  std::snprintf(head, sizeof head, "[%02d:%02d:%02d.%03d][%d][CUDA][E] ", local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(milliseconds), static_cast<int>(gettid()));
  return head + text + "\n";
}

}  // namespace

void error_log::add(const std::string& text) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(stamped(text));
  ++end_;
  if (kept_.size() > capacity) kept_.pop_front();
}

unsigned error_log::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

bool error_log::dump(unsigned* from, char* buffer, std::size_t& size) const {
  const std::lock_guard lock(mutex_);
  const auto first_kept = end_ - static_cast<unsigned>(kept_.size());
  const unsigned wanted = from ? *from : first_kept;
  const std::size_t room = std::exchange(size, 0);
  if (wanted > end_ || room == 0) return false;
  buffer[0] = '\0';
  std::string text;
  unsigned first = end_;
  for (; first > std::max(wanted, first_kept); --first) {
    const std::string longer = kept_[first - 1 - first_kept] + text;
    const bool is_last = first - 1 == wanted;
    if (longer.size() + (is_last ? 0 : sizeof missing - 1) >= room) break;
    text = longer;
  }
  if (first == end_ && end_ != wanted) return false;
  if (first != wanted) text = missing + text;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  size = text.size();
  if (from) *from = end_;
  return true;
}

}  // namespace simcuda
