// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>

#include "nvml/types.h"

namespace simcuda::nvml {

/// Text is never cut: what does not fit with its NUL is refused.
inline outcome copy_text(const std::string& text, char* target, unsigned length) {
  if (!target) return outcome::invalid_argument;
  if (text.size() >= length) return outcome::insufficient_size;
  std::memcpy(target, text.c_str(), text.size() + 1);
  return outcome::success;
}

}  // namespace simcuda::nvml
