// What every line of a journal has.
#pragma once

#include <cstdint>

namespace gpumem {

using DeviceOrdinal = std::int32_t;

struct LineHead {
  std::uint64_t ns = 0;
  std::int64_t tid = 0;
};

}  // namespace gpumem
