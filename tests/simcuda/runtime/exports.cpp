// SPDX-License-Identifier: Apache-2.0
// The runtime's exported functions, derived from api.def, and those that must not touch the last error.
#include "common/error_codes.h"
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda {
namespace {

/// The genuine runtime tries to start even here, and a failed start is every call's answer (measured).
status read_last_error(bool clear) {
  const status started = start();
  if (started != status::success) return started;
  const status error = last_error();
  if (clear) last_error() = status::success;
  return error;
}

const char* text_or_unknown(const error_code* known, const char* text) {
  return known && *known->runtime_name ? text : "unrecognized error code";
}

}  // namespace

extern "C" {

#define API_AS(export, body, needed, parameters, arguments)                           \
  [[gnu::visibility("default")]] status export parameters {                           \
    return enter(#export, need::needed, [&] { return runtime_api::body arguments; }); \
  }
#include "runtime/api.def"

[[gnu::visibility("default")]] status cudaGetLastError() { return read_last_error(true); }
[[gnu::visibility("default")]] status cudaPeekAtLastError() { return read_last_error(false); }

[[gnu::visibility("default")]] const char* cudaGetErrorName(status code) {
  const error_code* known = find_error_code(static_cast<int>(code));
  return text_or_unknown(known, known ? known->runtime_name : nullptr);
}

[[gnu::visibility("default")]] const char* cudaGetErrorString(status code) {
  const error_code* known = find_error_code(static_cast<int>(code));
  return text_or_unknown(known, known ? known->text : nullptr);
}

[[gnu::visibility("default")]] channel_description cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}

}  // extern "C"
}  // namespace simcuda
