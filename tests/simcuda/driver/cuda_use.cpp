// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_use.h"

#include <algorithm>

#include "driver/machine.h"

namespace simcuda {
namespace {

bool use_of(const unsigned char* id, cuda_use* out) {
  const locked_machine sim;
  for (const auto& one : sim->devices) {
    const auto& known = one->description().uuid;
    if (!std::equal(known.begin(), known.end(), id)) continue;
    out->all = one->capacity() - one->free_bytes();
    out->own = one->own_bytes();
    out->has_context = one->has_context();
    return true;
  }
  return false;
}

}  // namespace

const cuda_accounts accounts_of_devices{sizeof(cuda_accounts), use_of};

}  // namespace simcuda
