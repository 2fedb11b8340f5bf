// The ways in which a driver program gets, keeps and gives back memory: memory_ways WAY…
//
// Sizes are unlike anything else's, so that a test finds each block again. What fails although it should not ends the
// program with its name.
#include <unistd.h>

#include "driver_calls.hpp"

namespace {

void pitched() {
  CUdeviceptr rows = 0, left = 0;
  std::size_t pitch = 0;
  MUST(cuMemAllocPitch_v2, &rows, &pitch, 1001, 7, 4);
  MUST(cuMemAllocPitch_v2, &left, &pitch, 3001, 11, 4);
  std::printf("pitch %zu\n", pitch);
  MUST(cuMemFree_v2, rows);
}

void arrays() {
  CUDA_ARRAY_DESCRIPTOR flat{};
  flat.Width = 101, flat.Height = 3, flat.Format = CU_AD_FORMAT_FLOAT, flat.NumChannels = 4;
  CUDA_ARRAY3D_DESCRIPTOR deep{};
  deep.Width = 17, deep.Height = 5, deep.Depth = 3, deep.Format = CU_AD_FORMAT_HALF, deep.NumChannels = 2;
  CUDA_ARRAY3D_DESCRIPTOR chain{};
  chain.Width = 16, chain.Height = 16, chain.Format = CU_AD_FORMAT_UNSIGNED_INT8, chain.NumChannels = 1;
  CUarray one = nullptr, two = nullptr;
  CUmipmappedArray three = nullptr;
  MUST(cuArrayCreate_v2, &one, &flat);
  MUST(cuArray3DCreate_v2, &two, &deep);
  MUST(cuMipmappedArrayCreate, &three, &chain, 3);
  MUST(cuArrayDestroy, one);
  MUST(cuMipmappedArrayDestroy, three);
  MUST_FAIL(cuArrayDestroy, one);
}

void pools() {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  CUdeviceptr from_pool = 0, plain = 0, chosen = 0;
  MUST(cuMemPoolCreate, &pool, &properties);
  MUST(cuMemAllocFromPoolAsync, &from_pool, 10007, pool, nullptr);
  MUST(cuMemAllocAsync, &plain, 10009, nullptr);
  MUST(cuDeviceSetMemPool, 0, pool);
  MUST(cuMemAllocAsync_ptsz, &chosen, 10037, nullptr);
  MUST(cuMemFreeAsync, from_pool, nullptr);
  MUST(cuMemFree_v2, plain);
  MUST(cuMemPoolTrimTo, pool, 0);
  MUST(cuMemPoolDestroy, pool);
}

void virtual_memory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr range = 0;
  CUmemGenericAllocationHandle first = 0, second = 0, again = 0;
  MUST(cuMemAddressReserve, &range, 16 * page, 0, 0, 0);
  MUST(cuMemCreate, &first, 2 * page, &properties, 0);
  MUST(cuMemCreate, &second, 3 * page, &properties, 0);
  MUST(cuMemMap, range, 2 * page, 0, first, 0);
  MUST(cuMemMap, range + 2 * page, 3 * page, 0, second, 0);
  MUST(cuMemMap, range + 5 * page, 2 * page, 0, first, 0);
  MUST(cuMemSetAccess, range, 7 * page, &access, 1);
  MUST_FAIL(cuMemMap, range, 2 * page, 0, second, 0);
  MUST(cuMemRelease, first);  // lives on in its mappings
  MUST(cuMemRetainAllocationHandle, &again, reinterpret_cast<void*>(range + page));
  MUST(cuMemRelease, again);
  MUST_FAIL(cuMemUnmap, range + page, page);
  MUST(cuMemUnmap, range, 7 * page);  // three mappings: the last of `first`
  MUST(cuMemRelease, second);
  MUST(cuMemAddressFree, range, 16 * page);
  MUST(cuMemCreate, &again, 5 * page, &properties, 0);  // never released
}

// A destroyed context does not free physical memory.
void context_end() {
  CUcontext context = new_context();
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUDA_ARRAY_DESCRIPTOR flat{};
  flat.Width = 64, flat.Height = 2, flat.Format = CU_AD_FORMAT_UNSIGNED_INT8, flat.NumChannels = 1;
  CUdeviceptr linear = 0, managed = 0, async = 0, rows = 0;
  std::size_t pitch = 0;
  void *old_pinned = nullptr, *pinned = nullptr;
  CUarray array = nullptr;
  CUmemGenericAllocationHandle physical = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  MUST(cuMemAlloc_v2, &linear, 20011);
  MUST(cuMemAllocPitch_v2, &rows, &pitch, 100, 3, 4);
  MUST(cuMemAllocManaged, &managed, 20021, CU_MEM_ATTACH_GLOBAL);
  MUST(cuMemAllocHost_v2, &old_pinned, 20023);
  MUST(cuMemHostAlloc, &pinned, 20029, 0);
  MUST(cuArrayCreate_v2, &array, &flat);
  MUST(cuMemAllocAsync, &async, 20047, nullptr);
  MUST(cuMemCreate, &physical, page, &properties, 0);
  MUST(cuStreamCreate, &stream, 0);
  MUST(cuEventCreate, &event, 0);
  MUST(cuModuleLoadData, &module, "");
  MUST(cuCtxDestroy_v2, context);
}

void registered() {
  void* memory = std::aligned_alloc(4096, 5 * 4096);
  MUST(cuMemHostRegister_v2, memory, 5 * 4096, 0);
  MUST_FAIL(cuMemHostRegister_v2, memory, 5 * 4096, 0);
  MUST(cuMemHostUnregister, memory);
  MUST(cuMemHostRegister_v2, memory, 3 * 4096, 0);
}

void graphs() {
  CUgraph graph = nullptr, captured = nullptr, broken = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUstream stream = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS wanted{};
  wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wanted.bytesize = 30011;
  MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  MUST(cuGraphCreate, &graph, 0);
  MUST(cuGraphAddMemAllocNode, &node, graph, nullptr, 0, &wanted);
  MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
  MUST(cuGraphLaunch, exec, stream);
  MUST(cuMemFreeAsync, wanted.dptr, stream);
  MUST(cuGraphDestroy, graph);  // its memory goes with what was made of it
  MUST(cuGraphExecDestroy, exec);
  MUST(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  CUdeviceptr in_capture = 0, lost = 0;
  MUST(cuMemAllocAsync, &in_capture, 30013, stream);
  MUST(cuStreamEndCapture, stream, &captured);
  MUST(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  MUST(cuMemAllocAsync, &lost, 30029, stream);
  MUST_FAIL(cuMemAlloc_v2, &lost, 30047);  // invalidates the capture
  MUST_FAIL(cuStreamEndCapture, stream, &broken);
  MUST(cuDeviceGraphMemTrim, 0);
}

void code() {
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUdeviceptr variable = 0, other = 0;
  std::size_t bytes = 0;
  MUST(cuModuleLoadData, &module, "");
  MUST(cuModuleGetGlobal_v2, &variable, &bytes, module, "weights");
  MUST(cuModuleGetGlobal_v2, &variable, &bytes, module, "weights");
  MUST(cuModuleGetGlobal_v2, nullptr, &bytes, module, "weights");
  MUST(cuModuleUnload, module);
  MUST(cuLibraryLoadData, &library, "", nullptr, nullptr, 0, nullptr, nullptr, 0);
  MUST(cuLibraryGetGlobal, &other, &bytes, library, "table");
}

void objects() {
  CUstream stream = nullptr;
  CUevent first = nullptr, second = nullptr;
  MUST(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0);
  MUST(cuEventCreate, &first, 0);
  MUST(cuEventCreate, &second, 0);
  MUST(cuEventDestroy_v2, first);
  MUST(cuStreamDestroy_v2, stream);
}

void limits() { MUST(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, 64u << 20); }

void launches() {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  MUST(cuModuleLoadData, &module, "");
  MUST(cuModuleGetFunction, &kernel, module, "kernel");
  for (int i = 0; i < 12; ++i) MUST(cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
}

// Allocations that are a while apart.
void slow() {
  for (int i = 0; i < 8; ++i) {
    CUdeviceptr pointer = 0;
    MUST(cuMemAlloc_v2, &pointer, 50021);
    usleep(30'000);
  }
}

void nothing() {
  CUdeviceptr pointer = 0;
  MUST_FAIL(cuMemFree_v2, 0x12345600);
  MUST(cuMemAlloc_v2, &pointer, 40009);
  MUST(cuMemFree_v2, pointer);
  MUST_FAIL(cuMemFree_v2, pointer);
  MUST_FAIL(cuMemFreeHost, reinterpret_cast<void*>(pointer));
}

constexpr Way ways[] = {{"pitched", pitched},
                        {"arrays", arrays},
                        {"pools", pools},
                        {"virtual", virtual_memory},
                        {"context", context_end},
                        {"graphs", graphs},
                        {"code", code},
                        {"objects", objects},
                        {"registered", registered},
                        {"limits", limits},
                        {"nothing", nothing},
                        {"launches", launches},
                        {"slow", slow}};

}  // namespace

int main(int argc, char** argv) { return run_ways_in_context(ways, argc, argv); }
