// Contexts of every kind, and what belongs to them.
#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

void primary_context() {
  Output<Handle> context, no_device;
  cuda.call("cuDevicePrimaryCtxRelease_v2", "never retained", 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 99", &no_device, 99);
  no_device.print();
  cuda.call("cuDevicePrimaryCtxRetain", "no output", static_cast<Handle*>(nullptr), 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 0", &context, 0);
  context.print();
  cuda.call("cuDevicePrimaryCtxRetain", "device 0 again", &context, 0);
  cuda.call("cuDevicePrimaryCtxRelease", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxRelease_v2", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 0 once more", &context, 0);
  cuda.call("cuDevicePrimaryCtxReset", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxReset_v2", "device 99", 99);
  cuda.call("cuDevicePrimaryCtxReset_v2", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 0 for the rest", &context, 0);
  cuda.call("cuCtxSetCurrent", "the primary context", context.get());
  Output<Handle> popped;
  cuda.call("cuCtxPushCurrent", "the primary context", context.get());
  cuda.call("cuCtxPopCurrent", "", &popped);
  cuda.call("cuCtxPushCurrent_v2", "the primary context", context.get());
  cuda.call("cuCtxPopCurrent_v2", "", &popped);
}

void devices() {
  constexpr int multiprocessors = 16, no_attribute = 9999;
  cuda.get<int>("cuDeviceGetCount", "usual");
  cuda.call("cuDeviceGetCount", "no output", Handle{});
  for (const int ordinal : {0, 99, -1}) {
    cuda.get<int>("cuDeviceGet", "usual", ordinal);
    cuda.get<int>("cuDeviceGetAttribute", "usual", multiprocessors, ordinal);
  }
  cuda.get<int>("cuDeviceGetAttribute", "no attribute", no_attribute, 0);
}

// Which context is current, and that its work is done.
void current_context() {
  Output<Handle> popped;
  const auto context = cuda.get<Handle>("cuDevicePrimaryCtxRetain", "device 0, to be current", 0);
  for (const char* push : {"cuCtxPushCurrent", "cuCtxPushCurrent_v2"}) {
    cuda.call(push, "usual", context);
    cuda.call("cuCtxPopCurrent_v2", "what was pushed", &popped);
    cuda.call(push, "null", Handle{});
  }
  cuda.call("cuCtxSetCurrent", "usual", context);
  cuda.call("cuCtxSynchronize", "usual");
  cuda.call("cuCtxSynchronize_v2", "usual", context);
  std::size_t total = 0;
  cuda.get<std::size_t>("cuMemGetInfo_v2", "usual", &total);
  cuda.call("cuCtxSetCurrent", "none", Handle{});
  cuda.call("cuCtxSynchronize", "without a context");
  cuda.get<std::size_t>("cuMemGetInfo_v2", "without a context", &total);
  cuda.call("cuDevicePrimaryCtxRelease_v2", "device 0, not current any more", 0);
}

void own_contexts() {
  Output<Handle> first, second, third, fourth, bad;
  cuda.call("cuCtxCreate", "device 0", &first, 0u, 0);
  first.print();
  cuda.call("cuMemAlloc_v2", "5003 bytes that end with their context", &bad, std::size_t{5003});
  cuda.call("cuCtxDestroy", "the context", first.get());
  cuda.call("cuCtxCreate_v2", "device 0", &second, 0u, 0);
  second.print();
  cuda.call("cuCtxDestroy_v2", "the context", second.get());
  cuda.call("cuCtxDestroy_v2", "the context again", second.get());
  cuda.call("cuCtxCreate_v3", "device 0", &third, Handle{nullptr}, 0, 0u, 0);
  third.print();
  cuda.call("cuCtxDestroy_v2", "the context", third.get());
  cuda.call("cuCtxCreate_v4", "device 0", &fourth, Handle{nullptr}, 0u, 0);
  fourth.print();
  cuda.call("cuCtxDestroy_v2", "the context", fourth.get());
  Output<Handle> no_device;
  cuda.call("cuCtxCreate_v2", "device 99", &no_device, 0u, 99);
  no_device.print();
  cuda.call("cuCtxCreate_v2", "no output", static_cast<Handle*>(nullptr), 0u, 0);
  cuda.call("cuCtxDestroy_v2", "null", Handle{nullptr});
}

void green_contexts() {
  device_resource whole{};
  cuda.call("cuDeviceGetDevResource", "multiprocessors", 0, &whole, 1);
  const auto share = cuda.get<Handle>("cuDevResourceGenerateDesc", "all of them", &whole, 1u);
  const auto green = cuda.get<Handle>("cuGreenCtxCreate", "usual", share, 0, 1u);
  cuda.get<Handle>("cuGreenCtxCreate", "device 99", share, 99, 1u);
  const auto stream = cuda.get<Handle>("cuGreenCtxStreamCreate", "usual", green, 1u, 0);
  cuda.get<Handle>("cuCtxFromGreenCtx", "usual", green);
  cuda.release("cuStreamDestroy_v2", stream);
  cuda.release("cuGreenCtxDestroy", green);
}

// Limits, other devices, and the functions that are older than the others.
void the_rest() {
  constexpr int heap = 2;
  const auto detached = cuda.get<Handle>("cuCtxCreate_v2", "to detach", 0u, 0);
  cuda.release("cuCtxDetach", detached);
  cuda.call("cuCtxSetLimit", "a larger heap", heap, std::size_t{64} << 20);
  cuda.call("cuCtxSetLimit", "too much", heap, too_much);
  cuda.call("cuCtxSetLimit", "no limit", 99, std::size_t{1});
  const auto peer = cuda.get<Handle>("cuDevicePrimaryCtxRetain", "device 1", 1);
  for (const char* time : {"first", "again"}) cuda.call("cuCtxEnablePeerAccess", time, peer, 0u);
  cuda.call("cuCtxEnablePeerAccess", "null", Handle{}, 0u);
  if (Library::is_careful) return;
  for (const char* symbol : {"cuGLCtxCreate", "cuGLCtxCreate_v2"}) cuda.get<Handle>(symbol, "usual", 0u, 0);
  for (const char* symbol : {"cuVDPAUCtxCreate", "cuVDPAUCtxCreate_v2"})
    cuda.get<Handle>(symbol, "usual", 0u, 0, 0u, Handle{});
}

}  // namespace

void contexts() {
  devices();
  current_context();
  own_contexts();
  primary_context();
  green_contexts();
  the_rest();
}
