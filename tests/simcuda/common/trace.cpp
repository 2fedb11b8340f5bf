// SPDX-License-Identifier: Apache-2.0
#include "common/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simcuda::trace {
namespace {

int open_target() noexcept {
  const char* target = std::getenv("SIMCUDA_TRACE");
  if (!target || !*target) return -1;
  if (std::strcmp(target, "-") == 0) return STDERR_FILENO;
  return open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

int target_fd() noexcept {
  static const int fd = open_target();
  return fd;
}

}  // namespace

bool enabled() noexcept { return target_fd() >= 0; }

void call(const char* name, status result) noexcept { line("%s -> %d", name, static_cast<int>(result)); }

void line(const char* format, ...) noexcept {
  if (!enabled()) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(text, sizeof text - 1, format, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  // One write per line, so that lines of several threads and processes never mix.
  const auto length = std::min<std::size_t>(static_cast<std::size_t>(wanted), sizeof text - 2);
  text[length] = '\n';
  [[maybe_unused]] const auto written = write(target_fd(), text, length + 1);
}

}  // namespace simcuda::trace
