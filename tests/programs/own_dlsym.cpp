// Brings a dlsym of its own, which comes before everybody else's: look-ups never reach a preloaded library.
#include "driver_session.hpp"

namespace {

int lookups = 0;

}  // namespace

extern "C" void* dlsym(void* __restrict handle, const char* __restrict name) noexcept {
  static const auto next = reinterpret_cast<void* (*)(void*, const char*)>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  ++lookups;
  return next(handle, name);
}

int main() {
  session(driver_by_dlsym());
  std::printf("%d lookups\n", lookups);
}
