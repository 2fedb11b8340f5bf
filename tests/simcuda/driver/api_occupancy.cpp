// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "driver/api.h"

namespace simcuda::api {

status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, function* target, int block_size, std::size_t,
                                                            unsigned) {
  constexpr int threads_per_multiprocessor = 2048;
  if (!blocks || block_size <= 0) return status::invalid_value;
  const status known = cuFuncSetCacheConfig(target, 0);
  if (known == status::success) *blocks = std::max(1, threads_per_multiprocessor / block_size);
  return known;
}

status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, function* target, int block_size,
                                                   std::size_t shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, target, block_size, shared_bytes, 0);
}

}  // namespace simcuda::api
