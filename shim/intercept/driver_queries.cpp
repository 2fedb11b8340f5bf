#include "intercept/driver_queries.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "api/cuda_types.hpp"
#include "base/spin_lock.hpp"
#include "intercept/providers.hpp"

namespace gpumem {
namespace {

const OwnCalls* own_calls() {
  const Provider* driver = driver_provider();
  return driver != nullptr ? &driver->own_calls : nullptr;
}

template <class Function, class... Arguments>
bool succeeds(Function function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == cuda_success;
}

void format_uuid(const DeviceUuid& uuid, char* text) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char* c = "GPU-"; *c; ++c) *text++ = *c;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *text++ = '-';
    *text++ = digits[uuid.bytes[i] >> 4];
    *text++ = digits[uuid.bytes[i] & 15];
  }
  *text = '\0';
}

void format_capability(int major, int minor, char (&text)[16]) {
  char* const end = text + sizeof text - 1;
  char* at = std::to_chars(text, end, major).ptr;
  if (at != end) *at++ = '.';
  *std::to_chars(at, end, minor).ptr = '\0';
}

}  // namespace

bool current_context(std::uint64_t& handle, int& device) {
  const OwnCalls* driver = own_calls();
  CUcontext context = nullptr;
  if (driver == nullptr || !succeeds(driver->cuCtxGetCurrent, &context) || context == nullptr) return false;
  handle = reinterpret_cast<std::uintptr_t>(context);
  return succeeds(driver->cuCtxGetDevice, &device);
}

bool primary_context_active(int device, bool& active) {
  const OwnCalls* driver = own_calls();
  unsigned flags = 0;
  int state = 0;
  if (driver == nullptr || !succeeds(driver->cuDevicePrimaryCtxGetState, device, &flags, &state)) return false;
  active = state != 0;
  return true;
}

bool memory_info(std::uint64_t& free, std::uint64_t& total) {
  const OwnCalls* driver = own_calls();
  std::size_t free_bytes = 0, total_bytes = 0;
  if (driver == nullptr || !succeeds(driver->cuMemGetInfo_v2, &free_bytes, &total_bytes)) return false;
  free = free_bytes;
  total = total_bytes;
  return true;
}

bool pool_memory(const void* pool, ReservedMemory& memory) {
  constexpr int reserved_current = 5, used_current = 7;  // CU_MEMPOOL_ATTR_…
  const OwnCalls* driver = own_calls();
  const auto handle = static_cast<CUmemoryPool>(const_cast<void*>(pool));
  return driver != nullptr && succeeds(driver->cuMemPoolGetAttribute, handle, reserved_current, &memory.reserved) &&
         succeeds(driver->cuMemPoolGetAttribute, handle, used_current, &memory.used);
}

bool default_pool_memory(int device, ReservedMemory& memory) {
  const OwnCalls* driver = own_calls();
  CUmemoryPool pool = nullptr;
  return driver != nullptr && succeeds(driver->cuDeviceGetDefaultMemPool, &pool, device) && pool_memory(pool, memory);
}

bool graph_memory(int device, ReservedMemory& memory) {
  constexpr int used_current = 0, reserved_current = 2;  // CU_GRAPH_MEM_ATTR_…
  const OwnCalls* driver = own_calls();
  return driver != nullptr &&
         succeeds(driver->cuDeviceGetGraphMemAttribute, device, reserved_current, &memory.reserved) &&
         succeeds(driver->cuDeviceGetGraphMemAttribute, device, used_current, &memory.used);
}

bool address_range(std::uint64_t address, std::uint64_t& size) {
  const OwnCalls* driver = own_calls();
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  if (driver == nullptr || !succeeds(driver->cuMemGetAddressRange_v2, &base, &bytes, address)) return false;
  size = bytes;
  return true;
}

bool open_capture(const void* stream, std::uint64_t& id) {
  constexpr int active = 1;  // CU_STREAM_CAPTURE_STATUS_ACTIVE
  const OwnCalls* driver = own_calls();
  int status = 0;
  cuuint64_t number = 0;
  if (driver == nullptr ||
      !succeeds(driver->cuStreamGetCaptureInfo, static_cast<CUstream>(const_cast<void*>(stream)), &status, &number))
    return false;
  id = number;
  return status == active;
}

bool device_identity(int ordinal, DeviceIdentity& identity) {
  const OwnCalls* driver = own_calls();
  CUdevice device = 0;
  if (driver == nullptr || !succeeds(driver->cuDeviceGet, &device, ordinal)) return false;
  if (!succeeds(driver->cuDeviceGetName, identity.name, static_cast<int>(sizeof identity.name), device))
    identity.name[0] = '\0';
  if (!succeeds(driver->cuDeviceGetPCIBusId, identity.pci_bus_id, static_cast<int>(sizeof identity.pci_bus_id), device))
    identity.pci_bus_id[0] = '\0';
  DeviceUuid uuid{};
  if (succeeds(driver->cuDeviceGetUuid_v2, &uuid, device) || succeeds(driver->cuDeviceGetUuid, &uuid, device))
    format_uuid(uuid, identity.uuid);
  std::size_t total = 0;
  if (succeeds(driver->cuDeviceTotalMem_v2, &total, device)) identity.total = total;
  constexpr int compute_mode = 20, capability_major = 75, capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_…
  int mode = 0, major = 0, minor = 0;
  if (succeeds(driver->cuDeviceGetAttribute, &mode, compute_mode, device)) identity.compute_mode = mode;
  if (succeeds(driver->cuDeviceGetAttribute, &major, capability_major, device) &&
      succeeds(driver->cuDeviceGetAttribute, &minor, capability_minor, device))
    format_capability(major, minor, identity.capability);
  return true;
}

bool device_count(int& count) {
  const OwnCalls* driver = own_calls();
  return driver != nullptr && succeeds(driver->cuDeviceGetCount, &count);
}

namespace {

// Which driver the iterator is of, by its serial, and the iterator: a driver that was loaded anew begins a log anew.
constinit std::atomic<std::uint64_t> log_place{0};

// Returns the length. No lock is held across the driver's functions, so two threads may both be told of the same.
std::size_t read_driver_log(char* text, std::size_t size) {
  constexpr unsigned serial_shift = 32, no_flags = 0;
  const Provider* driver = driver_provider();
  if (driver == nullptr || size < 2) return 0;
  const std::uint64_t place = log_place.load(std::memory_order_relaxed);
  const bool has_place = place >> serial_shift == driver->serial;
  auto iterator = static_cast<unsigned>(place);
  if (!has_place && !succeeds(driver->own_calls.cuLogsCurrent, &iterator, no_flags)) return 0;
  std::size_t length = size - 1;
  unsigned* const everything = nullptr;
  if (!succeeds(driver->own_calls.cuLogsDumpToMemory, has_place ? &iterator : everything, text, &length, no_flags))
    return 0;
  log_place.store(std::uint64_t{driver->serial} << serial_shift | iterator, std::memory_order_relaxed);
  return std::min(length, size - 1);
}

SpinLock kept_log_lock;
char kept_log[4096];
std::size_t kept_log_size = 0;

}  // namespace

void keep_driver_log() {
  char fresh[sizeof kept_log];
  const std::size_t size = read_driver_log(fresh, sizeof fresh);
  LockGuard guard(kept_log_lock);
  const std::size_t most = std::min(size, sizeof kept_log - kept_log_size);
  std::memcpy(kept_log + kept_log_size, fresh, most);
  kept_log_size += most;
}

bool new_driver_log(char* text, std::size_t size) {
  std::size_t length = 0;
  {
    LockGuard guard(kept_log_lock);
    length = std::min(kept_log_size, size - 1);
    std::memcpy(text, kept_log, length);
    kept_log_size = 0;
  }
  length += read_driver_log(text + length, size - length);
  text[length] = '\0';
  return length != 0;
}

}  // namespace gpumem
