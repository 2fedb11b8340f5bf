// Stream-ordered memory and its pools.
#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

constexpr int descriptor_type = 1, pinned_memory = 1;

void stream_ordered(const char* allocate, const char* from_pool, const char* release) {
  Output<Handle> pool;
  Output<Pointer> block, pooled, none;
  cuda.call("cuDeviceGetDefaultMemPool", "device 0", &pool, 0);
  cuda.call(allocate, "4001 bytes", &block, std::size_t{4001}, Handle{nullptr});
  block.print();
  cuda.call(from_pool, "4003 bytes", &pooled, std::size_t{4003}, pool.get(), Handle{nullptr});
  pooled.print();
  cuda.call(allocate, "too much", &none, too_much, Handle{nullptr});
  none.print();
  cuda.call(allocate, "no output", static_cast<Pointer*>(nullptr), std::size_t{64}, Handle{nullptr});
  cuda.call(release, "the block", block.get(), Handle{nullptr});
  cuda.call(release, "the block again", block.get(), Handle{nullptr});
  cuda.call(release, "the pooled block", pooled.get(), Handle{nullptr});
}

Handle exported(Handle pool) {
  int descriptor = -1;
  cuda.call("cuMemPoolExportToShareableHandle", "usual", &descriptor, pool, descriptor_type, 0ull);
  cuda.call("cuMemPoolExportToShareableHandle", "of no pool", &descriptor, Handle{}, descriptor_type, 0ull);
  return reinterpret_cast<Handle>(std::intptr_t{descriptor});
}

void own_pool() {
  pool_properties wanted{};
  wanted.allocation_type = pinned_memory, wanted.handle_types = descriptor_type;
  wanted.location = {location_device, 0};
  access_description access{{location_device, 0}, 3}, elsewhere{{location_device, 99}, 3};
  ipc_handle pointer{};
  const auto pool = cuda.get<Handle>("cuMemPoolCreate", "usual", &wanted);
  cuda.call("cuMemPoolSetAccess", "own device", pool, &access, std::size_t{1});
  cuda.call("cuMemPoolSetAccess", "device 99", pool, &elsewhere, std::size_t{1});
  cuda.call("cuDeviceSetMemPool", "usual", 0, pool);
  cuda.call("cuDeviceSetMemPool", "device 99", 99, pool);
  cuda.call("cuMemSetMemPool", "usual", &wanted.location, pinned_memory, pool);
  cuda.call("cuMemSetMemPool", "device 99", &elsewhere.location, pinned_memory, pool);
  const auto block = cuda.get<Pointer>("cuMemAllocFromPoolAsync", "to share", std::size_t{4007}, pool, no_stream);
  const auto imported =
      cuda.get<Handle>("cuMemPoolImportFromShareableHandle", "usual", exported(pool), descriptor_type, 0ull);
  cuda.call("cuMemPoolExportPointer", "usual", &pointer, block);
  cuda.call("cuMemPoolExportPointer", "of no block", &pointer, Pointer{0});
  const auto shared = cuda.get<Pointer>("cuMemPoolImportPointer", "usual", imported, &pointer);
  cuda.get<Pointer>("cuMemPoolImportPointer", "of a pool that is not imported", pool, &pointer);
  cuda.release("cuMemFreeAsync", shared, no_stream);
  cuda.release("cuMemFreeAsync_ptsz", block, no_stream);
  cuda.call("cuMemPoolTrimTo", "nothing", pool, std::size_t{0});
  cuda.call("cuMemPoolTrimTo", "no pool", Handle{}, std::size_t{0});
  cuda.release("cuMemPoolDestroy", imported);
  cuda.release("cuMemPoolDestroy", pool);
}

}  // namespace

void pools() {
  stream_ordered("cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemFreeAsync");
  stream_ordered("cuMemAllocAsync_ptsz", "cuMemAllocFromPoolAsync_ptsz", "cuMemFreeAsync_ptsz");
  own_pool();
}
