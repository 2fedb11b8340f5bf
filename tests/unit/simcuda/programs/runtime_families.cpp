// SPDX-License-Identifier: Apache-2.0
// Every kind of memory through a runtime of each version: what is taken is given back, to the byte.
// Argument: the major version.
#include <unistd.h>

#include <cstdlib>

#include "loaded_runtime.h"
#include "runtime/types.h"

using namespace simcuda;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
void* const no_stream = nullptr;
constexpr unsigned array_sparse = 0x40;
int major = 0;

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT(call("cudaMemGetInfo", &free, &total) == 0);
  return free;
}

constexpr channel_description bytes_of_four{{8, 8, 8, 8}, 1};

pool_properties pool_wish() {
  pool_properties wanted{};
  wanted.allocation_type = 1;
  wanted.handle_types = 1;
  wanted.location = {location_device, 0};
  return wanted;
}

void use_linear() {
  const std::size_t before = free_bytes();
  void *linear = nullptr, *pitched = nullptr, *pinned = nullptr, *managed = nullptr, *there = nullptr;
  static char own[4096];
  std::size_t pitch = 0;
  EXPECT(call("cudaMalloc", &linear, mib) == 0);
  EXPECT(call("cudaMallocPitch", &pitched, &pitch, std::size_t{1000}, std::size_t{1024}) == 0 && pitch == 1024);
  EXPECT(before - free_bytes() == 2 * mib);
  EXPECT(call("cudaMallocManaged", &managed, mib, 1u) == 0);
  EXPECT(call("cudaHostAlloc", &pinned, mib, 0u) == 0);
  EXPECT(call("cudaHostRegister", static_cast<void*>(own), sizeof own, 0u) == 0);
  EXPECT(call("cudaHostGetDevicePointer", &there, static_cast<void*>(own), 0u) == 0);
  EXPECT(call("cudaHostUnregister", static_cast<void*>(own)) == 0);
  EXPECT(call("cudaStreamAttachMemAsync", no_stream, managed, std::size_t{0}, 1u) == 0);
  const memory_location here{location_device, 0};
  if (major == 13) {
    EXPECT(call("cudaMemAdvise", managed, mib, 1, here) == 0);
    EXPECT(call("cudaMemPrefetchAsync", managed, mib, here, 0u, no_stream) == 0);
    std::size_t bytes = mib, which = 0;
    memory_location where = here;
    EXPECT(call("cudaMemPrefetchBatchAsync", &managed, &bytes, std::size_t{1}, &where, &which, std::size_t{1}, 0ull,
                no_stream) == 0);
    EXPECT(call("cudaMemDiscardBatchAsync", &managed, &bytes, std::size_t{1}, 0ull, no_stream) == 0);
  } else {
    EXPECT(call("cudaMemAdvise", managed, mib, 1, 0) == 0);
    EXPECT(call("cudaMemPrefetchAsync", managed, mib, 0, no_stream) == 0);
  }
  if (major == 12) {
    EXPECT(call("cudaMemAdvise_v2", managed, mib, 1, here) == 0);
    EXPECT(call("cudaMemPrefetchAsync_v2", managed, mib, here, 0u, no_stream) == 0);
  }
  for (void* block : {linear, pitched, managed}) EXPECT(call("cudaFree", block) == 0);
  EXPECT(call("cudaFreeHost", pinned) == 0);
  EXPECT(free_bytes() == before);
}

void use_arrays() {
  const std::size_t before = free_bytes();
  device_array *flat = nullptr, *deep = nullptr, *level = nullptr, *sparse = nullptr;
  mipmapped_array *chain = nullptr, *sparse_chain = nullptr;
  array_requirements needs{};
  sparse_properties about{};
  const auto call_3d = [&](device_array** out, extent size, unsigned flags) {
    return call("cudaMalloc3DArray", out, &bytes_of_four, size, flags);
  };
  EXPECT(call("cudaMallocArray", &flat, &bytes_of_four, std::size_t{512}, std::size_t{512}, 0u) == 0);
  EXPECT(before - free_bytes() == mib);
  EXPECT(call_3d(&deep, {64, 64, 64}, 0) == 0);
  EXPECT(before - free_bytes() == 2 * mib);
  EXPECT(call("cudaMallocMipmappedArray", &chain, &bytes_of_four, extent{64, 64, 0}, 3u, 0u) == 0);
  EXPECT(call("cudaGetMipmappedArrayLevel", &level, chain, 2u) == 0);
  EXPECT(call_3d(&sparse, {1024, 1024, 0}, array_sparse) == 0);
  EXPECT(call("cudaArrayGetSparseProperties", &about, sparse) == 0 && about.tile_width);
  EXPECT(call("cudaMallocMipmappedArray", &sparse_chain, &bytes_of_four, extent{64, 64, 0}, 3u, array_sparse) == 0);
  EXPECT(call("cudaMipmappedArrayGetSparseProperties", &about, sparse_chain) == 0);
  EXPECT(call("cudaMipmappedArrayGetMemoryRequirements", &needs, chain, 0) == 1);  // for deferred ones only
  EXPECT(call("cudaFreeMipmappedArray", sparse_chain) == 0);
  for (device_array* one : {flat, deep, sparse}) EXPECT(call("cudaFreeArray", one) == 0);
  EXPECT(call("cudaFreeMipmappedArray", chain) == 0);
  EXPECT(free_bytes() == before);
}

void use_pools() {
  const std::size_t before = free_bytes();
  memory_pool *pool = nullptr, *imported = nullptr;
  const auto wanted = pool_wish();
  void *block = nullptr, *ordered = nullptr, *there = nullptr;
  int file = -1;
  ipc_handle pointer{};
  EXPECT(call("cudaMemPoolCreate", &pool, &wanted) == 0);
  EXPECT(call("cudaMallocFromPoolAsync", &block, mib, pool, no_stream) == 0);
  EXPECT(call("cudaMallocAsync", &ordered, mib, no_stream) == 0);
  EXPECT(before - free_bytes() == 4 * mib);  // two pools, in steps of 2 MiB
  EXPECT(call("cudaMemPoolExportToShareableHandle", &file, pool, 1, 0u) == 0);
  const auto as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
  EXPECT(call("cudaMemPoolImportFromShareableHandle", &imported, as_pointer, 1, 0u) == 0);
  close(file);
  EXPECT(call("cudaMemPoolExportPointer", &pointer, block) == 0);
  EXPECT(call("cudaMemPoolImportPointer", &there, imported, &pointer) == 0 && there != block);
  for (void* one : {there, block, ordered}) EXPECT(call("cudaFreeAsync", one, no_stream) == 0);
  EXPECT(call("cudaDeviceSynchronize") == 0);
  EXPECT(call("cudaMemPoolDestroy", imported) == 0);
  EXPECT(call("cudaMemPoolDestroy", pool) == 0);
  EXPECT(free_bytes() == before);
}

void use_graphs() {
  const std::size_t before = free_bytes();
  graph* made = nullptr;
  graph_node *empty = nullptr, *allocates = nullptr, *frees = nullptr, *nodes[3] = {};
  executable_graph* runs = nullptr;
  allocation_node wanted{}, told{};
  wanted.pool = pool_wish();
  wanted.pool.handle_types = 0;
  wanted.bytes = mib;
  std::size_t count = 3;
  const std::size_t none = 0, one = 1;
  void* freed = nullptr;
  int type = 0;
  EXPECT(call("cudaGraphCreate", &made, 0u) == 0);
  EXPECT(call("cudaGraphAddEmptyNode", &empty, made, no_stream, none) == 0);
  EXPECT(call("cudaGraphAddMemAllocNode", &allocates, made, &empty, one, &wanted) == 0);
  const auto address = reinterpret_cast<void*>(wanted.address);
  EXPECT(call("cudaGraphAddMemFreeNode", &frees, made, &allocates, one, address) == 0);
  EXPECT(call("cudaGraphMemAllocNodeGetParams", allocates, &told) == 0 && told.address == wanted.address);
  EXPECT(call("cudaGraphMemFreeNodeGetParams", frees, static_cast<void*>(&freed)) == 0 && freed == address);
  EXPECT(call("cudaGraphGetNodes", made, nodes, &count) == 0 && count == 3);
  EXPECT(call("cudaGraphNodeGetType", frees, &type) == 0 && type == 11);
  EXPECT(call("cudaGraphInstantiateWithFlags", &runs, made, 0ull) == 0);
  EXPECT(call("cudaGraphUpload", runs, no_stream) == 0);
  EXPECT(call("cudaGraphLaunch", runs, no_stream) == 0);
  EXPECT(before - free_bytes() == 2 * mib);
  EXPECT(call("cudaDeviceGraphMemTrim", 0) == 0);
  EXPECT(free_bytes() == before);
  EXPECT(call("cudaGraphExecDestroy", runs) == 0);
  EXPECT(call("cudaGraphDestroy", made) == 0);
}

void use_foreign() {
  const std::size_t before = free_bytes();
  external_memory* external = nullptr;
  external_memory_description wanted{};
  wanted.type = 1;
  wanted.descriptor = -1;
  wanted.bytes = mib;
  const external_buffer_description part{0, mib / 2, 0, {}};
  external_array_request image{};
  image.channels = bytes_of_four;
  image.size = {64, 64, 0};
  image.levels = 1;
  void* buffer = nullptr;
  mipmapped_array* levels = nullptr;
  EXPECT(call("cudaImportExternalMemory", &external, &wanted) == 0);
  EXPECT(call("cudaExternalMemoryGetMappedBuffer", &buffer, external, &part) == 0);
  EXPECT(call("cudaExternalMemoryGetMappedMipmappedArray", &levels, external, &image) == 0);
  EXPECT(call("cudaFree", buffer) == 0);
  EXPECT(call("cudaFreeMipmappedArray", levels) == 0);
  EXPECT(call("cudaDestroyExternalMemory", external) == 0);
  graphics_resource* resources[5] = {};
  device_array* array = nullptr;
  std::size_t bytes = 0;
  EXPECT(call("cudaGraphicsGLRegisterBuffer", &resources[0], 1u, 0u) == 0);
  EXPECT(call("cudaGraphicsGLRegisterImage", &resources[1], 1u, 0x0de1u, 0u) == 0);
  EXPECT(call("cudaGraphicsEGLRegisterImage", &resources[2], static_cast<void*>(resources), 0u) == 0);
  EXPECT(call("cudaGraphicsVDPAURegisterVideoSurface", &resources[3], 1u, 0u) == 0);
  EXPECT(call("cudaGraphicsVDPAURegisterOutputSurface", &resources[4], 1u, 0u) == 0);
  EXPECT(call("cudaGraphicsResourceSetMapFlags", resources[0], 1u) == 0);
  EXPECT(call("cudaGraphicsMapResources", 5, resources, no_stream) == 0);
  EXPECT(call("cudaGraphicsResourceGetMappedPointer", &buffer, &bytes, resources[0]) == 0 && bytes);
  EXPECT(call("cudaGraphicsResourceGetMappedMipmappedArray", &levels, resources[1]) == 0);
  EXPECT(call("cudaGraphicsSubResourceGetMappedArray", &array, resources[2], 0u, 0u) == 0);
  EXPECT(call("cudaGraphicsUnmapResources", 5, resources, no_stream) == 0);
  for (graphics_resource* one : resources) EXPECT(call("cudaGraphicsUnregisterResource", one) == 0);
  EXPECT(free_bytes() == before);
}

void use_libraries() {
  if (major == 11) return;
  const std::size_t before = free_bytes();
  library* code = nullptr;
  kernel* work = nullptr;
  void *variable = nullptr, *nothing = nullptr;
  std::size_t bytes = 0;
  EXPECT(call("cudaLibraryLoadData", &code, "image", nothing, nothing, 0u, nothing, nothing, 0u) == 0);
  EXPECT(call("cudaLibraryGetKernel", &work, code, "work") == 0);
  EXPECT(call("cudaLibraryGetGlobal", &variable, &bytes, code, "plain") == 0 && bytes);
  EXPECT(before - free_bytes() == 2 * mib);
  EXPECT(call("cudaLibraryGetManaged", &variable, &bytes, code, "managed") == 0 && bytes);
  EXPECT(call("cudaLibraryUnload", code) == 0);
  EXPECT(call("cudaLibraryLoadFromFile", &code, "/proc/self/exe", nothing, nothing, 0u, nothing, nothing, 0u) == 0);
  EXPECT(call("cudaLibraryUnload", code) == 0);
  EXPECT(free_bytes() == before);
}

void use_device() {
  int device = 7;
  EXPECT(call("cudaDeviceGetP2PAttribute", &device, 2, 0, 0) == 1);
  EXPECT(call("cudaDeviceEnablePeerAccess", 0, 0u) == 101);
  EXPECT(call("cudaDeviceDisablePeerAccess", 0) == 705);
  if (major > 11) EXPECT(call("cudaStreamGetDevice", no_stream, &device) == 0 && device == 0);
  const std::size_t before = free_bytes();
  std::size_t heap = 0;
  EXPECT(call("cudaDeviceSetLimit", 2, 16 * mib) == 0);
  EXPECT(before - free_bytes() == 8 * mib);
  if (major < 13) {
    EXPECT(call("cudaThreadSetLimit", 2, 32 * mib) == 0);
    EXPECT(call("cudaThreadGetLimit", &heap, 2) == 0 && heap == 32 * mib);
    EXPECT(call("cudaThreadSynchronize") == 0);
    EXPECT(call("cudaThreadExit") == 0);
  } else {
    EXPECT(call("cudaDeviceReset") == 0);
  }
  EXPECT(free_bytes() == before);
}

}  // namespace

int main(int, char** arguments) {
  major = std::atoi(arguments[1]);
  runtime = dlopen(runtime_name(arguments[1]).c_str(), RTLD_NOW);
  EXPECT(runtime);
  use_linear();
  use_arrays();
  use_pools();
  use_graphs();
  use_foreign();
  use_libraries();
  use_device();
  return failures;
}
