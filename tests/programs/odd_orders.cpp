// What ends in another order than it began: odd_orders WAY…
#include "driver_calls.hpp"

namespace {

CUDA_MEM_ALLOC_NODE_PARAMS wanted(std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS node{};
  node.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  node.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  node.bytesize = bytes;
  return node;
}

// A graph gets memory after it was instantiated.
void late_node() {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode node = nullptr;
  auto memory = wanted(60013);
  MUST(cuGraphCreate, &graph, 0);
  MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
  MUST(cuGraphAddMemAllocNode, &node, graph, nullptr, 0, &memory);
  MUST(cuGraphDestroy, graph);
  MUST(cuGraphExecDestroy, exec);
}

// A stream goes while it is being captured.
void captured_stream() {
  CUstream stream = nullptr;
  CUdeviceptr pointer = 0;
  MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  MUST(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  MUST(cuMemAllocAsync, &pointer, 60017, stream);
  MUST(cuStreamDestroy_v2, stream);
  MUST(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, 8u << 20);
}

// The same with the whole context.
void captured_context() {
  CUstream stream = nullptr;
  CUcontext context = new_context();
  MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  MUST(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  MUST(cuCtxDestroy_v2, context);
  new_context();
  MUST(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, 8u << 20);
}

// A pool goes while it is the device's current one: the default one takes its place.
void current_pool() {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  CUdeviceptr before = 0, after = 0;
  MUST(cuMemPoolCreate, &pool, &properties);
  MUST(cuDeviceSetMemPool, 0, pool);
  MUST(cuMemAllocAsync, &before, 60029, nullptr);
  MUST(cuMemPoolDestroy, pool);
  MUST(cuMemAllocAsync, &after, 60037, nullptr);
}

// A multicast object goes while memory is bound to it, after that memory's handle.
void bound_multicast() {
  CUmulticastObjectProp team{};
  team.numDevices = 1, team.size = 4 * page;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle multicast = 0, memory = 0;
  MUST(cuMulticastCreate, &multicast, &team);
  MUST(cuMulticastAddDevice, multicast, 0);
  MUST(cuMemCreate, &memory, 2 * page, &properties, 0);
  MUST(cuMulticastBindMem, multicast, 0, memory, 0, 2 * page, 0);
  MUST(cuMemRelease, memory);
  MUST(cuMemRelease, multicast);
}

// A stream of one device is used while a context of the other is current.
void other_device() {
  CUstream stream = nullptr;
  CUdeviceptr pointer = 0;
  MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  new_context(1);
  MUST(cuMemAllocAsync, &pointer, 60041, stream);
}

constexpr Way ways[] = {{"late_node", late_node},
                        {"captured_stream", captured_stream},
                        {"captured_context", captured_context},
                        {"current_pool", current_pool},
                        {"bound_multicast", bound_multicast},
                        {"other_device", other_device}};

}  // namespace

int main(int argc, char** argv) { return run_ways_in_context(ways, argc, argv); }
