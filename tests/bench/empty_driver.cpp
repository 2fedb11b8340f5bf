// A driver whose calls do nothing, so that what a recorded call costs is the recording.
// Handed out addresses never come again while they live: they count up, and wrap long after.
#include <cstddef>
#include <cstdint>

namespace {
int context;
std::uint64_t next_address = 0x700000000000;

int allocate(std::uint64_t* out) { return *out = next_address += 512, 0; }
}  // namespace

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDevicePrimaryCtxRetain(void** out, int) { return *out = &context, 0; }
int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) { return *flags = 0, *active = 1, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxGetCurrent(void** out) { return *out = &context, 0; }
int cuCtxGetDevice(int* device) { return *device = 0, 0; }
int cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
  return *available = std::size_t{40} << 30, *total = std::size_t{80} << 30, 0;
}
int cuMemAlloc_v2(std::uint64_t* out, std::size_t) { return allocate(out); }
int cuMemFree_v2(std::uint64_t) { return 0; }

// The same as the two above under names that nobody intercepts.
int bare_allocate(std::uint64_t* out, std::size_t) { return allocate(out); }
int bare_free(std::uint64_t) { return 0; }
}
