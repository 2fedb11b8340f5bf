// SPDX-License-Identifier: Apache-2.0
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {

status cudaStreamBeginCapture(stream* queue, int mode) { return driver().cuStreamBeginCapture_v2(queue, mode); }
#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaStreamBeginCaptureToGraph(stream* queue, graph* into, graph_node* const* dependencies, const void* edges,
                                     std::size_t count, int mode) {
  return driver().cuStreamBeginCaptureToGraph(queue, into, dependencies, edges, count, mode);
}
#endif

status cudaStreamEndCapture(stream* queue, graph** out) { return driver().cuStreamEndCapture(queue, out); }

#if SIMCUDA_RUNTIME_VERSION >= 13000
status cudaStreamGetCaptureInfo(stream* queue, int* state, unsigned long long* id, graph** into, graph_node*** last,
                                const void** edges, std::size_t* count) {
  return driver().cuStreamGetCaptureInfo_v3(queue, state, id, into, last, edges, count);
}
#else
status cudaStreamGetCaptureInfo(stream* queue, int* state, unsigned long long* id) {
  return driver().cuStreamGetCaptureInfo(queue, state, id);
}

status cudaStreamGetCaptureInfo_v2(stream* queue, int* state, unsigned long long* id, graph** into, graph_node*** last,
                                   std::size_t* count) {
  return driver().cuStreamGetCaptureInfo_v2(queue, state, id, into, last, count);
}
#endif
#if SIMCUDA_RUNTIME_VERSION / 1000 == 12
status cudaStreamGetCaptureInfo_v3(stream* queue, int* state, unsigned long long* id, graph** into, graph_node*** last,
                                   const void** edges, std::size_t* count) {
  return driver().cuStreamGetCaptureInfo_v3(queue, state, id, into, last, edges, count);
}
#endif

status cudaGraphCreate(graph** out, unsigned flags) { return driver().cuGraphCreate(out, flags); }
status cudaGraphClone(graph** out, graph* from) { return driver().cuGraphClone(out, from); }
status cudaGraphDestroyNode(graph_node* gone) { return driver().cuGraphDestroyNode(gone); }
status cudaGraphDestroy(graph* target) { return driver().cuGraphDestroy(target); }

status cudaGraphAddMemAllocNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count,
                                allocation_node* wanted) {
  return driver().cuGraphAddMemAllocNode(out, to, dependencies, count, wanted);
}

status cudaGraphAddMemFreeNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count,
                               void* address) {
  return driver().cuGraphAddMemFreeNode(out, to, dependencies, count, reinterpret_cast<device_ptr>(address));
}

status cudaGraphAddEmptyNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count) {
  return driver().cuGraphAddEmptyNode(out, to, dependencies, count);
}

status cudaGraphMemAllocNodeGetParams(graph_node* node, allocation_node* out) {
  return driver().cuGraphMemAllocNodeGetParams(node, out);
}

status cudaGraphMemFreeNodeGetParams(graph_node* node, void* out) {
  return driver().cuGraphMemFreeNodeGetParams(node, static_cast<device_ptr*>(out));
}

status cudaGraphGetNodes(graph* of, graph_node** nodes, std::size_t* count) {
  return driver().cuGraphGetNodes(of, nodes, count);
}

status cudaGraphNodeGetType(graph_node* node, int* type) { return driver().cuGraphNodeGetType(node, type); }

#if SIMCUDA_RUNTIME_VERSION >= 13000
status cudaGraphAddNode(graph_node** out, graph* to, graph_node* const* dependencies, const void* edges,
                        std::size_t count, generic_node* wanted) {
  return driver().cuGraphAddNode_v2(out, to, dependencies, edges, count, wanted);
}
#elif SIMCUDA_RUNTIME_VERSION >= 12000
status cudaGraphAddNode(graph_node** out, graph* to, graph_node* const* dependencies, std::size_t count,
                        generic_node* wanted) {
  return driver().cuGraphAddNode(out, to, dependencies, count, wanted);
}

status cudaGraphAddNode_v2(graph_node** out, graph* to, graph_node* const* dependencies, const void* edges,
                           std::size_t count, generic_node* wanted) {
  return driver().cuGraphAddNode_v2(out, to, dependencies, edges, count, wanted);
}
#endif

status cudaGraphInstantiateWithFlags(executable_graph** out, graph* from, unsigned long long flags) {
  return driver().cuGraphInstantiateWithFlags(out, from, flags);
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaGraphInstantiate(executable_graph** out, graph* from, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(out, from, flags);
}
#else
status cudaGraphInstantiate(executable_graph** out, graph* from, graph_node** failed, char* log,
                            std::size_t log_bytes) {
  if (failed) *failed = nullptr;
  if (log && log_bytes) *log = '\0';
  return cudaGraphInstantiateWithFlags(out, from, 0);
}
#endif

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaGraphInstantiateWithParams(executable_graph** out, graph* from, instantiation* wanted) {
  return driver().cuGraphInstantiateWithParams(out, from, wanted);
}
#endif

status cudaGraphLaunch(executable_graph* target, stream* queue) { return driver().cuGraphLaunch(target, queue); }
status cudaGraphUpload(executable_graph* target, stream* queue) { return driver().cuGraphUpload(target, queue); }
status cudaGraphExecDestroy(executable_graph* target) { return driver().cuGraphExecDestroy(target); }
status cudaDeviceGraphMemTrim(int device) { return driver().cuDeviceGraphMemTrim(device); }

status cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return driver().cuDeviceGetGraphMemAttribute(device, attribute, value);
}

status cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return driver().cuDeviceSetGraphMemAttribute(device, attribute, value);
}

}  // namespace simcuda::runtime_api
