// The only CUDA calls that the shim makes itself: queries that change nothing.
//
// They go to the real driver and are not observed. Never to be called in a forked child of a process that had started
// CUDA, nor once the process is exiting; the session sees to that. Each answers false where the driver is not known,
// lacks the function, or refuses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

// The calling thread's current context and its device.
bool current_context(std::uint64_t& handle, int& device);

// Whether the device's primary context is alive. Needed because others may hold it as well: a release ends it only if
// it was the last one, and cudart's own hold is not visible to us.
bool primary_context_active(int device, bool& active);

// Free and total bytes of the current context's device. Not while a stream capture is open.
bool memory_info(std::uint64_t& free, std::uint64_t& total);

// Bytes that an allocator inside the driver holds, and what of them is in use.
struct ReservedMemory {
  std::uint64_t reserved = 0, used = 0;
};
// A stream-ordered pool: one that cannot be destroyed meanwhile. The device's default one cannot, but is to be asked
// for only where the process has used stream-ordered memory: asking may create it.
bool pool_memory(const void* pool, ReservedMemory& memory);
bool default_pool_memory(int device, ReservedMemory& memory);
// The memory for graphs.
bool graph_memory(int device, ReservedMemory& memory);

// Size of what lies at a device address.
bool address_range(std::uint64_t address, std::uint64_t& size);

// Whether the stream is being captured, and a number of the capture that it shares with the streams that joined it.
bool open_capture(const void* stream, std::uint64_t& id);

struct DeviceIdentity {
  char name[256] = "";
  char pci_bus_id[32] = "";
  char uuid[48] = "";  // "GPU-…", as nvidia-smi writes it
  std::uint64_t total = 0;
  int compute_mode = -1;     // CUcomputemode
  char capability[16] = "";  // "9.0"
};
// Fields that the driver does not tell stay as they are.
bool device_identity(int ordinal, DeviceIdentity& identity);
bool device_count(int& count);

// What the driver has written to its own error log since the last time, for all threads together; false if nothing. A
// text that does not fit loses its older messages, and the driver says so in it.
bool new_driver_log(char* text, std::size_t size);
// Reads what is new now, for the next new_driver_log(): the driver may be unloaded before that.
void keep_driver_log();

}  // namespace gpumem
