// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace simcuda {

/// Names and text of one result code; a name is empty where the code does not exist at that level.
struct error_code {
  int code;
  const char* driver_name;
  const char* runtime_name;
  const char* text;
};

/// The code's row, or nullptr for a number that neither driver nor runtime knows.
const error_code* find_error_code(int code) noexcept;

}  // namespace simcuda
