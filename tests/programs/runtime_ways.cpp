// The ways in which a runtime program gets, keeps and gives back memory of its own: runtime_ways LIBCUDART WAY…
//
// Sizes are unlike anything else's, so that a test finds each block again.
#include <cstdint>

#include "runtime_calls.hpp"

namespace {

void linear() {
  void *kept = nullptr, *managed = nullptr, *freed = nullptr, *none = nullptr;
  must("cudaMalloc", &kept, std::size_t{60013});
  must("cudaMalloc", &freed, std::size_t{60017});
  must("cudaMallocManaged", &managed, std::size_t{60029}, 1u);
  must("cudaFree", freed);
  must_fail("cudaFree", freed);
  must("cudaMalloc", &none, std::size_t{0});  // a success, and nothing handed out
}

void pitched() {
  void* rows = nullptr;
  std::size_t pitch = 0;
  cudaPitchedPtr layers{};
  must("cudaMallocPitch", &rows, &pitch, std::size_t{1001}, std::size_t{7});
  must("cudaMalloc3D", &layers, cudaExtent{3001, 11, 2});
  std::printf("pitches %zu %zu\n", pitch, layers.pitch);
  must("cudaFree", rows);
}

void arrays() {
  const cudaChannelFormatDesc four_floats{32, 32, 32, 32, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc two_halves{16, 16, 0, 0, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc bytes{8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t flat = nullptr, deep = nullptr, sparse = nullptr;
  cudaMipmappedArray_t chain = nullptr;
  must("cudaMallocArray", &flat, &four_floats, std::size_t{101}, std::size_t{3}, 0u);
  must("cudaMalloc3DArray", &deep, &two_halves, cudaExtent{17, 5, 3}, 0u);
  must("cudaMallocMipmappedArray", &chain, &bytes, cudaExtent{16, 16, 0}, 3u, 0u);
  must("cudaMalloc3DArray", &sparse, &bytes, cudaExtent{1024, 1024, 0}, unsigned{cudaArraySparse});
  must("cudaFreeArray", flat);
  must("cudaFreeMipmappedArray", chain);
  must_fail("cudaFreeArray", flat);
}

void pools() {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  wanted.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr, imported = nullptr;
  cudaMemPoolPtrExportData exported{};
  void *from_pool = nullptr, *plain = nullptr, *chosen = nullptr, *theirs = nullptr;
  int descriptor = -1;
  must("cudaMemPoolCreate", &pool, &wanted);
  must("cudaMallocFromPoolAsync", &from_pool, std::size_t{10007}, pool, no_stream);
  must("cudaMallocAsync", &plain, std::size_t{10009}, no_stream);
  must("cudaDeviceSetMemPool", 0, pool);
  must("cudaMallocAsync_ptsz", &chosen, std::size_t{10037}, no_stream);
  must("cudaMemPoolExportToShareableHandle", &descriptor, pool, 1, 0u);
  must("cudaMemPoolImportFromShareableHandle", &imported, reinterpret_cast<void*>(std::intptr_t{descriptor}), 1, 0u);
  must("cudaMemPoolExportPointer", &exported, chosen);
  must("cudaMemPoolImportPointer", &theirs, imported, &exported);
  must("cudaFreeAsync", theirs, no_stream);
  must("cudaFreeAsync", from_pool, no_stream);
  must("cudaFree", plain);
  must("cudaMemPoolTrimTo", pool, std::size_t{0});
  must("cudaMemPoolDestroy", imported);
  must("cudaMemPoolDestroy", pool);
}

void add_node(cudaGraph_t graph, std::size_t bytes) {
  cudaGraphNodeParams wanted{};
  wanted.type = cudaGraphNodeTypeMemAlloc;
  wanted.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.alloc.bytesize = bytes;
  cudaGraphNode_t node = nullptr;
  const cudaGraphNode_t* const no_nodes = nullptr;
  const void* const no_edges = nullptr;
  if (version >= 13000)
    must("cudaGraphAddNode", &node, graph, no_nodes, no_edges, std::size_t{0}, &wanted);
  else if (version >= 12000)
    must("cudaGraphAddNode", &node, graph, no_nodes, std::size_t{0}, &wanted);
}

void graphs() {
  cudaGraph_t graph = nullptr, captured = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStream_t stream = nullptr;
  cudaMemAllocNodeParams wanted{};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = 30011;
  must("cudaStreamCreateWithFlags", &stream, 1u);
  must("cudaGraphCreate", &graph, 0u);
  must("cudaGraphAddMemAllocNode", &node, graph, static_cast<cudaGraphNode_t*>(nullptr), std::size_t{0}, &wanted);
  add_node(graph, 30017);
  char log[64];
  if (version >= 12000)
    must("cudaGraphInstantiate", &exec, graph, 0ull);
  else  // had five parameters then
    must("cudaGraphInstantiate", &exec, graph, &node, log, sizeof log);
  must("cudaGraphLaunch", exec, stream);
  must("cudaFreeAsync", wanted.dptr, stream);
  must("cudaGraphDestroy", graph);  // its memory goes with what was made of it
  must("cudaGraphExecDestroy", exec);
  void* in_capture = nullptr;
  must("cudaStreamBeginCapture", stream, int{cudaStreamCaptureModeRelaxed});
  must("cudaMallocAsync", &in_capture, std::size_t{30013}, stream);
  must("cudaStreamEndCapture", stream, &captured);
  must("cudaDeviceGraphMemTrim", 0);
}

void host() {
  void *freed = nullptr, *kept = nullptr, *own = std::aligned_alloc(page, 5 * page);
  must("cudaMallocHost", &freed, std::size_t{40009});
  must("cudaHostAlloc", &kept, std::size_t{40013}, 0u);
  must("cudaFreeHost", freed);
  must("cudaHostRegister", own, 5 * page, 0u);
  must_fail("cudaHostRegister", own, 5 * page, 0u);
  must("cudaHostUnregister", own);
  must("cudaHostRegister", own, 3 * page, 0u);
}

void objects() {
  cudaStream_t first = nullptr, second = nullptr, third = nullptr;
  cudaEvent_t event = nullptr, other = nullptr;
  must("cudaStreamCreate", &first);
  must("cudaStreamCreateWithFlags", &second, 1u);
  must("cudaStreamCreateWithPriority", &third, 1u, 0);
  must("cudaEventCreate", &event);
  must("cudaEventCreateWithFlags", &other, 0u);
  must("cudaStreamDestroy", first);
  must("cudaStreamDestroy", second);
  must("cudaEventDestroy", event);
}

void code() {
  if (version < 12000) return must("cudaFree", static_cast<void*>(nullptr));
  void *unloaded = nullptr, *kept = nullptr, *variable = nullptr;
  std::size_t bytes = 0;
  void* const none = nullptr;
  must("cudaLibraryLoadData", &unloaded, "", none, none, 0u, none, none, 0u);
  must("cudaLibraryLoadData", &kept, "", none, none, 0u, none, none, 0u);
  must("cudaLibraryGetGlobal", &variable, &bytes, unloaded, "weights");
  must("cudaLibraryGetGlobal", &variable, &bytes, unloaded, "weights");
  must("cudaLibraryGetManaged", &variable, &bytes, kept, "table");
  must("cudaLibraryUnload", unloaded);
}

void limits() { must("cudaDeviceSetLimit", int{cudaLimitMallocHeapSize}, std::size_t{64} << 20); }

// Of all these only page-locked and stream-ordered memory outlives the context.
void live_reset() {
  const cudaChannelFormatDesc one_float{32, 0, 0, 0, cudaChannelFormatKindFloat};
  void *block = nullptr, *managed = nullptr, *pinned = nullptr, *ordered = nullptr;
  cudaArray_t array = nullptr;
  cudaStream_t stream = nullptr;
  must("cudaMalloc", &block, std::size_t{70003});
  must("cudaMallocManaged", &managed, std::size_t{70009}, 1u);
  must("cudaMallocArray", &array, &one_float, std::size_t{16}, std::size_t{16}, 0u);
  must("cudaMallocHost", &pinned, std::size_t{70019});
  must("cudaMallocAsync", &ordered, std::size_t{70021}, no_stream);
  must("cudaStreamCreate", &stream);
  must("cudaDeviceReset");
}

constexpr Way ways[] = {
    {"linear", linear}, {"pitched", pitched}, {"arrays", arrays}, {"pools", pools},   {"graphs", graphs},
    {"host", host},     {"objects", objects}, {"code", code},     {"limits", limits}, {"live_reset", live_reset}};

}  // namespace

int main(int argc, char** argv) { return run_ways_over(ways, argc, argv); }
