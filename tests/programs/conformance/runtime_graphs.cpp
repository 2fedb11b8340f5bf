// Graphs and captures.
#include "driver/resource_types.h"
#include "runtime/types.h"
#include "runtime_themes.hpp"

using namespace simcuda;

namespace {

const Handle none = nullptr;
constexpr std::size_t no_nodes = 0;

Handle new_stream() { return cuda.get<Handle>("cudaStreamCreateWithFlags", "non-blocking", 1u); }

void nodes() {
  constexpr int memory_allocation = 10;
  generic_node wanted{};
  wanted.type = memory_allocation;
  wanted.allocation.pool.allocation_type = 1;
  wanted.allocation.pool.location = {location_device, 0};
  wanted.allocation.bytes = 8009;
  generic_node second = wanted, third = wanted;
  const auto graph = cuda.get<Handle>("cudaGraphCreate", "usual", 0u);
  const auto node = cuda.get<Handle>("cudaGraphAddMemAllocNode", "usual", graph, none, no_nodes, &wanted.allocation);
  cuda.get<Handle>("cudaGraphAddMemAllocNode", "no graph", none, none, no_nodes, &wanted.allocation);
  if (version >= 13000)
    cuda.get<Handle>("cudaGraphAddNode", "usual", graph, none, none, no_nodes, &second);
  else
    cuda.get<Handle>("cudaGraphAddNode", "usual", graph, none, no_nodes, &second);
  cuda.get<Handle>("cudaGraphAddNode_v2", "usual", graph, none, none, no_nodes, &third);
  cuda.get<Handle>("cudaGraphAddMemFreeNode", "usual", graph, &node, std::size_t{1},
                   reinterpret_cast<Handle>(wanted.allocation.address));
  cuda.get<Handle>("cudaGraphClone", "with memory", graph);
  cuda.call("cudaGraphDestroyNode", "with memory", node);
  cuda.release("cudaGraphDestroy", graph);
  const auto empty = cuda.get<Handle>("cudaGraphCreate", "usual", 0u);
  const auto removed = cuda.get<Handle>("cudaGraphAddEmptyNode", "usual", empty, none, no_nodes);
  cuda.release("cudaGraphDestroyNode", removed);
  cuda.release("cudaGraphDestroy", cuda.get<Handle>("cudaGraphClone", "usual", empty));
  last_error();
}

void executables() {
  const auto stream = new_stream(), graph = cuda.get<Handle>("cudaGraphCreate", "usual", 0u);
  instantiation wanted{};
  const Handle executables[] = {
      version >= 12000 ? cuda.get<Handle>("cudaGraphInstantiate", "usual", graph, 0ull)
                       : cuda.get<Handle>("cudaGraphInstantiate", "usual", graph, none, none, std::size_t{0}),
      cuda.get<Handle>("cudaGraphInstantiateWithFlags", "usual", graph, 0ull),
      cuda.get<Handle>("cudaGraphInstantiateWithParams", "usual", graph, &wanted),
      cuda.get<Handle>("cudaGraphInstantiateWithParams_ptsz", "usual", graph, &wanted)};
  for (const char* symbol : {"cudaGraphUpload", "cudaGraphUpload_ptsz", "cudaGraphLaunch", "cudaGraphLaunch_ptsz"})
    for (const Handle exec : {executables[0], none}) cuda.call(symbol, "usual", exec, stream);
  for (const Handle exec : executables) cuda.release("cudaGraphExecDestroy", exec);
  cuda.release("cudaGraphDestroy", graph);
  for (const int device : {0, 99}) cuda.call("cudaDeviceGraphMemTrim", "usual", device);
  cuda.release("cudaStreamDestroy", stream);
  last_error();
}

void capture(const char* begin, const char* end, const char* allocate) {
  constexpr int global = 0;
  const auto stream = new_stream();
  Output<Handle> graph;
  for (const char* time : {"usual", "again"}) cuda.call(begin, time, stream, global);
  cuda.get<Handle>(allocate, "in a capture", std::size_t{8101}, stream);
  for (const char* time : {"usual", "again"}) {
    cuda.call(end, time, stream, &graph);
    graph.print();
  }
  cuda.call(begin, "to be broken", stream, global);
  cuda.get<Handle>("cudaMalloc", "in a capture", std::size_t{8111});
  cuda.call(end, "a broken one", stream, &graph);
  cuda.release("cudaStreamDestroy", stream);
  last_error();
}

}  // namespace

void graphs() {
  nodes();
  executables();
  capture("cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaMallocAsync");
  capture("cudaStreamBeginCapture_ptsz", "cudaStreamEndCapture_ptsz", "cudaMallocAsync_ptsz");
  const auto stream = new_stream(), graph = cuda.get<Handle>("cudaGraphCreate", "usual", 0u);
  Output<Handle> same;
  for (const char* symbol : {"cudaStreamBeginCaptureToGraph", "cudaStreamBeginCaptureToGraph_ptsz"}) {
    cuda.call(symbol, "usual", stream, graph, none, none, no_nodes, 0);
    cuda.call("cudaStreamEndCapture", "usual", stream, &same);
  }
}
