// The rows of cuda_api.def as numbers and names.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpumem {

enum class ApiId : std::uint16_t {
#define CUDA_API(ret, symbol, ...) symbol,
#include "api/cuda_api.def"
#undef CUDA_API
  count,
  none = 0xffff
};

inline constexpr unsigned api_count = static_cast<unsigned>(ApiId::count);
constexpr unsigned index(ApiId api) { return static_cast<unsigned>(api); }

// The exported symbol; "" for ApiId::none.
const char* api_name(ApiId api);

// The row with exactly this name, or ApiId::none. No allocation, no lock.
ApiId find_api(const char* name);

// Whether the row belongs to the runtime (cudart) rather than to the driver (libcuda).
constexpr bool is_runtime_name(std::string_view name) { return name.starts_with("cuda"); }
bool is_runtime(ApiId api);

}  // namespace gpumem
