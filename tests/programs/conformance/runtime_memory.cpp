// Linear, pitched, managed, page-locked, registered and stream-ordered memory, and arrays.
#include "driver/resource_types.h"
#include "runtime/types.h"
#include "runtime_themes.hpp"

using namespace simcuda;

namespace {

constexpr int descriptor_type = 1, pinned_memory = 1;

template <typename... Flags>
void allocations(const char* allocate, const char* release, Flags... flags) {
  Output<Handle> block, none, failed;
  cuda.call(allocate, "1009 bytes", &block, std::size_t{1009}, flags...);
  block.print();
  cuda.call(allocate, "no bytes", &none, std::size_t{0}, flags...);
  none.print();
  last_error();
  cuda.call(allocate, "no output", static_cast<Handle*>(nullptr), std::size_t{64}, flags...);
  last_error();
  cuda.call(allocate, "too much", &failed, too_much, flags...);
  failed.print();
  last_error();
  cuda.call(release, "the block", block.get());
  cuda.call(release, "the block again", block.get());
  last_error();
  cuda.call(release, "null", Handle{});
  last_error();
}

void stream_ordered(const char* allocate, const char* from_pool, const char* release) {
  Output<Handle> pool;
  Output<Handle> block, pooled, none;
  cuda.call("cudaDeviceGetDefaultMemPool", "device 0", &pool, 0);
  cuda.call(allocate, "4001 bytes", &block, std::size_t{4001}, Handle{nullptr});
  block.print();
  cuda.call(from_pool, "4003 bytes", &pooled, std::size_t{4003}, pool.get(), Handle{nullptr});
  pooled.print();
  cuda.call(allocate, "too much", &none, too_much, Handle{nullptr});
  none.print();
  last_error();
  cuda.call(allocate, "no output", static_cast<Handle*>(nullptr), std::size_t{64}, Handle{nullptr});
  last_error();
  cuda.call(release, "the block", block.get(), Handle{nullptr});
  cuda.call(release, "the pooled block", pooled.get(), Handle{nullptr});
  cuda.call(release, "the block again", block.get(), Handle{nullptr});
  last_error();
}

void pitched() {
  std::size_t pitch = 0;
  Output<pitched_pointer> layers;
  const auto rows = cuda.get<Handle>("cudaMallocPitch", "7 rows", &pitch, std::size_t{1001}, std::size_t{7});
  cuda.get<Handle>("cudaMallocPitch", "no rows", &pitch, std::size_t{1001}, std::size_t{0});
  cuda.get<Handle>("cudaMallocPitch", "too much", &pitch, too_much, std::size_t{7});
  cuda.get<Handle>("cudaMallocPitch", "no pitch", Handle{}, std::size_t{1001}, std::size_t{7});
  cuda.call("cudaMalloc3D", "2 layers", &layers, extent{1001, 7, 2});
  layers.print();
  cuda.call("cudaMalloc3D", "no output", Handle{}, extent{1001, 7, 2});
  cuda.release("cudaFree", rows);
  if (layers.is_written()) cuda.release("cudaFree", Handle{layers.get().pointer});
  last_error();
}

void registered() {
  alignas(4096) static char own[4096];
  cuda.call("cudaHostRegister", "a page", Handle{own}, sizeof own, 0u);
  cuda.call("cudaHostRegister", "again", Handle{own}, sizeof own, 0u);
  cuda.release("cudaHostUnregister", Handle{own});
  last_error();
}

void arrays() {
  constexpr channel_description bytes{{8, 0, 0, 0}, 1}, unknown{{7, 0, 0, 0}, 1};
  const auto flat = cuda.get<Handle>("cudaMallocArray", "flat", &bytes, std::size_t{16}, std::size_t{16}, 0u);
  const auto deep = cuda.get<Handle>("cudaMalloc3DArray", "deep", &bytes, extent{16, 16, 4}, 0u);
  const auto chain = cuda.get<Handle>("cudaMallocMipmappedArray", "2 levels", &bytes, extent{16, 16, 0}, 2u, 0u);
  cuda.get<Handle>("cudaMallocArray", "an unknown format", &unknown, std::size_t{16}, std::size_t{16}, 0u);
  cuda.get<Handle>("cudaMallocArray", "no format", Handle{}, std::size_t{16}, std::size_t{16}, 0u);
  for (const Handle array : {flat, deep}) cuda.release("cudaFreeArray", array);
  cuda.release("cudaFreeMipmappedArray", chain);
  last_error();
}

Handle exported(Handle pool) {
  int descriptor = -1;
  cuda.call("cudaMemPoolExportToShareableHandle", "usual", &descriptor, pool, descriptor_type, 0u);
  cuda.call("cudaMemPoolExportToShareableHandle", "of no pool", &descriptor, Handle{}, descriptor_type, 0u);
  return reinterpret_cast<Handle>(std::intptr_t{descriptor});
}

void own_pool() {
  pool_properties wanted{};
  wanted.allocation_type = pinned_memory, wanted.handle_types = descriptor_type;
  wanted.location = {location_device, 0};
  access_description access{{location_device, 0}, 3}, elsewhere{{location_device, 99}, 3};
  ipc_handle pointer{};
  const auto pool = cuda.get<Handle>("cudaMemPoolCreate", "usual", &wanted);
  cuda.call("cudaMemPoolSetAccess", "own device", pool, &access, std::size_t{1});
  cuda.call("cudaMemPoolSetAccess", "device 99", pool, &elsewhere, std::size_t{1});
  for (const int device : {0, 99}) cuda.call("cudaDeviceSetMemPool", "usual", device, pool);
  cuda.call("cudaMemSetMemPool", "usual", &wanted.location, pinned_memory, pool);
  const auto block = cuda.get<Handle>("cudaMallocFromPoolAsync", "to share", std::size_t{4007}, pool, no_stream);
  const auto imported =
      cuda.get<Handle>("cudaMemPoolImportFromShareableHandle", "usual", exported(pool), descriptor_type, 0u);
  cuda.call("cudaMemPoolExportPointer", "usual", &pointer, block);
  const auto shared = cuda.get<Handle>("cudaMemPoolImportPointer", "usual", imported, &pointer);
  cuda.release("cudaFreeAsync", shared, no_stream);
  cuda.release("cudaFreeAsync_ptsz", block, no_stream);
  for (const Handle trimmed : {pool, Handle{}}) cuda.call("cudaMemPoolTrimTo", "usual", trimmed, std::size_t{0});
  cuda.release("cudaMemPoolDestroy", imported);
  cuda.release("cudaMemPoolDestroy", pool);
  last_error();
}

}  // namespace

void memory() {
  allocations("cudaMalloc", "cudaFree");
  allocations("cudaMallocManaged", "cudaFree", 1u);
  allocations("cudaMallocHost", "cudaFreeHost");
  allocations("cudaHostAlloc", "cudaFreeHost", 0u);
  stream_ordered("cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaFreeAsync");
  stream_ordered("cudaMallocAsync_ptsz", "cudaMallocFromPoolAsync_ptsz", "cudaFreeAsync_ptsz");
  pitched();
  registered();
  arrays();
  own_pool();
}
