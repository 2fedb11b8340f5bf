// Allocates below 200 functions, each with a name of four thousand characters.
#include "driver_session.hpp"

#define FOUR_TIMES(name) JOIN_FOUR_TIMES(name)
#define JOIN_FOUR_TIMES(name) name##name##name##name
#define NAME_OF_64 FOUR_TIMES(sixteen_letters_)
#define NAME_OF_256 FOUR_TIMES(NAME_OF_64)
#define NAME_OF_1024 FOUR_TIMES(NAME_OF_256)
#define NAME_OF_4096 FOUR_TIMES(NAME_OF_1024)

namespace {

constexpr int functions = 200;

template <int number>
__attribute__((noinline)) int NAME_OF_4096(const DriverApi& api) {
  CUdeviceptr block = 0;
  if constexpr (number == functions)
    return api.cuMemAlloc(&block, 7001);
  else
    return NAME_OF_4096<number + 1>(api);
}

}  // namespace

int main() {
  const DriverApi api = driver_by_dlsym();
  start(api);
  std::printf("%d\n", NAME_OF_4096<1>(api));
}
