// SPDX-License-Identifier: Apache-2.0
#include "common/error_codes.h"

#include <algorithm>
#include <iterator>

namespace simcuda {
namespace {

constexpr error_code table[] = {
#define ERROR_CODE(code, driver_name, runtime_name, text) {code, driver_name, runtime_name, text},
#include "common/error_codes.def"
#undef ERROR_CODE
};

}  // namespace

const error_code* find_error_code(int code) noexcept {
  const auto* row = std::lower_bound(std::begin(table), std::end(table), code,
                                     [](const error_code& entry, int wanted) { return entry.code < wanted; });
  return row != std::end(table) && row->code == code ? row : nullptr;
}

}  // namespace simcuda
