// Graphs and captures.
#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

Handle new_stream() { return cuda.get<Handle>("cuStreamCreate", "non-blocking", 1u); }

generic_node allocation_wish(std::size_t bytes) {
  constexpr int memory_allocation = 10;
  generic_node wanted{};
  wanted.type = memory_allocation;
  wanted.allocation.pool.allocation_type = 1;
  wanted.allocation.pool.location = {location_device, 0};
  wanted.allocation.bytes = bytes;
  return wanted;
}

void nodes() {
  const Handle none = nullptr;
  constexpr std::size_t no_nodes = 0;
  const auto graph = cuda.get<Handle>("cuGraphCreate", "usual", 0u);
  generic_node first = allocation_wish(8009), second = allocation_wish(8011), third = allocation_wish(8017);
  generic_node huge = allocation_wish(too_much);
  const auto node = cuda.get<Handle>("cuGraphAddMemAllocNode", "usual", graph, none, no_nodes, &first.allocation);
  cuda.get<Handle>("cuGraphAddMemAllocNode", "too much", graph, none, no_nodes, &huge.allocation);
  cuda.get<Handle>("cuGraphAddMemAllocNode", "no graph", none, none, no_nodes, &first.allocation);
  cuda.get<Handle>("cuGraphAddNode", "usual", graph, none, no_nodes, &second);
  cuda.get<Handle>("cuGraphAddNode_v2", "usual", graph, none, none, no_nodes, &third);
  cuda.get<Handle>("cuGraphAddMemFreeNode", "usual", graph, &node, std::size_t{1}, first.allocation.address);
  cuda.get<Handle>("cuGraphAddMemFreeNode", "of nothing", graph, &node, std::size_t{1}, Pointer{0x1234567});
  cuda.get<Handle>("cuGraphClone", "with memory", graph);
  cuda.call("cuGraphDestroyNode", "with memory", node);
  cuda.call("cuGraphDestroyNode", "null", none);
  cuda.release("cuGraphDestroy", graph);
  const auto empty = cuda.get<Handle>("cuGraphCreate", "usual", 0u);
  const auto removed = cuda.get<Handle>("cuGraphAddEmptyNode", "usual", empty, none, no_nodes);
  cuda.release("cuGraphDestroyNode", removed);
  cuda.release("cuGraphDestroy", cuda.get<Handle>("cuGraphClone", "usual", empty));
}

void run(const char* launch, const char* upload, Handle exec, Handle stream) {
  cuda.call(upload, "usual", exec, stream);
  cuda.call(launch, "usual", exec, stream);
  cuda.call(launch, "null", Handle{}, stream);
  cuda.call(upload, "null", Handle{}, stream);
}

void executables() {
  const Handle none = nullptr;
  const auto stream = new_stream(), graph = cuda.get<Handle>("cuGraphCreate", "usual", 0u);
  instantiation wanted{};
  const Handle executables[] = {cuda.get<Handle>("cuGraphInstantiate", "usual", graph, none, none, std::size_t{0}),
                                cuda.get<Handle>("cuGraphInstantiate_v2", "usual", graph, none, none, std::size_t{0}),
                                cuda.get<Handle>("cuGraphInstantiateWithFlags", "usual", graph, 0ull),
                                cuda.get<Handle>("cuGraphInstantiateWithParams", "usual", graph, &wanted),
                                cuda.get<Handle>("cuGraphInstantiateWithParams_ptsz", "usual", graph, &wanted)};
  cuda.get<Handle>("cuGraphInstantiateWithFlags", "unknown flags", graph, ~0ull);
  run("cuGraphLaunch", "cuGraphUpload", executables[0], stream);
  run("cuGraphLaunch_ptsz", "cuGraphUpload_ptsz", executables[1], stream);
  for (const Handle exec : executables) cuda.release("cuGraphExecDestroy", exec);
  cuda.release("cuGraphDestroy", graph);
  for (const int device : {0, 99}) cuda.call("cuDeviceGraphMemTrim", "usual", device);
  cuda.release("cuStreamDestroy_v2", stream);
}

template <class... Mode>
void capture(const char* begin, const char* end, const char* allocate, Mode... mode) {
  const auto stream = new_stream();
  Output<Handle> graph;
  cuda.call(begin, "usual", stream, mode...);
  cuda.call(begin, "again", stream, mode...);
  cuda.get<Pointer>(allocate, "in a capture", std::size_t{8101}, stream);
  for (const char* time : {"usual", "again"}) {
    cuda.call(end, time, stream, &graph);
    graph.print();
  }
  cuda.call(begin, "to be broken", stream, mode...);
  cuda.get<Pointer>("cuMemAlloc_v2", "in a capture", std::size_t{8111});
  cuda.call(end, "a broken one", stream, &graph);
  cuda.call(end, "no output", stream, Handle{});
  cuda.release("cuStreamDestroy", stream);
}

}  // namespace

void graphs() {
  nodes();
  executables();
  constexpr int global = 0;
  capture("cuStreamBeginCapture", "cuStreamEndCapture", "cuMemAllocAsync");
  capture("cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuMemAllocAsync", global);
  capture("cuStreamBeginCapture_ptsz", "cuStreamEndCapture_ptsz", "cuMemAllocAsync_ptsz");
  capture("cuStreamBeginCapture_v2_ptsz", "cuStreamEndCapture_ptsz", "cuMemAllocAsync_ptsz", global);
  const auto stream = new_stream(), graph = cuda.get<Handle>("cuGraphCreate", "usual", 0u);
  Output<Handle> same;
  for (const char* symbol : {"cuStreamBeginCaptureToGraph", "cuStreamBeginCaptureToGraph_ptsz"}) {
    cuda.call(symbol, "usual", stream, graph, Handle{}, Handle{}, std::size_t{0}, global);
    cuda.call("cuStreamEndCapture", "usual", stream, &same);
  }
}
