// A driver that needs nothing of the C library, and so loads where the simulated one does not: on systems older than
// the one that it was built on. It has one device, and hands out addresses that nothing lies behind.
namespace {

constexpr int success = 0, invalid_value = 1, out_of_memory = 2;
constexpr unsigned long long capacity = 1ull << 34;
constexpr int most_blocks = 64;

unsigned long long blocks[most_blocks];  // addresses; 0 where there is none
unsigned long long next_address = 0x700000000000;
void* current_context = nullptr;
char primary_context;

int allocate(unsigned long long* address, unsigned long long bytes) {
  if (bytes == 0) return invalid_value;
  if (bytes > capacity) return out_of_memory;
  for (auto& block : blocks) {
    if (block != 0) continue;
    *address = block = next_address;
    next_address += (bytes + 511) / 512 * 512;
    return success;
  }
  return out_of_memory;
}

int release(unsigned long long address) {
  for (auto& block : blocks) {
    if (block != address || address == 0) continue;
    block = 0;
    return success;
  }
  return invalid_value;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return success; }

int cuDriverGetVersion(int* version) {
  *version = 11000;
  return success;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? success : 101;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &primary_context;
  return success;
}

int cuDevicePrimaryCtxRelease_v2(int) { return success; }

int cuCtxSetCurrent(void* context) {
  current_context = context;
  return success;
}

int cuCtxGetCurrent(void** context) {
  *context = current_context;
  return success;
}

int cuCtxGetDevice(int* device) {
  *device = 0;
  return current_context != nullptr ? success : 201;
}

int cuMemAlloc_v2(unsigned long long* address, unsigned long long bytes) { return allocate(address, bytes); }
int cuMemFree_v2(unsigned long long address) { return release(address); }

}  // extern "C"
