#include "api/api_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpumem {
namespace {

constexpr const char* names[api_count] = {
#define CUDA_API(ret, symbol, ...) #symbol,
#include "api/cuda_api.def"
#undef CUDA_API
};

constexpr auto sorted_by_name = [] {
  std::array<std::uint16_t, api_count> order{};
  for (unsigned i = 0; i < api_count; ++i) order[i] = static_cast<std::uint16_t>(i);
  std::sort(order.begin(), order.end(),
            [](std::uint16_t a, std::uint16_t b) { return std::string_view(names[a]) < std::string_view(names[b]); });
  return order;
}();

}  // namespace

const char* api_name(ApiId api) { return api < ApiId::count ? names[index(api)] : ""; }

ApiId find_api(const char* name) {
  // Nearly every name that a program looks up fails here.
  if (name[0] != 'c' || name[1] != 'u') return ApiId::none;
  std::size_t low = 0, high = api_count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = std::strcmp(name, names[sorted_by_name[middle]]);
    if (order == 0) return static_cast<ApiId>(sorted_by_name[middle]);
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return ApiId::none;
}

bool is_runtime(ApiId api) { return is_runtime_name(api_name(api)); }

}  // namespace gpumem
