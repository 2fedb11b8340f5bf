// Modules, libraries, kernels, streams and events.
#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

void variables(const char* symbol, Handle code) {
  std::size_t bytes = 0;
  cuda.get<Pointer>(symbol, "usual", &bytes, code, "weights");
  cuda.get<Pointer>(symbol, "without the size", Handle{}, code, "weights");
  cuda.call(symbol, "the size alone", Handle{}, &bytes, code, "weights");
  cuda.call(symbol, "nothing asked for", Handle{}, Handle{}, code, "weights");
  cuda.get<Pointer>(symbol, "no name", &bytes, code, Handle{});
}

void launches(Handle function) {
  const Handle none = nullptr;
  launch_configuration one{1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, 0};
  for (const unsigned blocks : {1u, 0u}) {
    const char* special = blocks ? "usual" : "no blocks";
    one.grid_x = blocks;
    for (const char* symbol : {"cuLaunchKernel", "cuLaunchKernel_ptsz"})
      cuda.call(symbol, special, function, blocks, 1u, 1u, 1u, 1u, 1u, 0u, no_stream, none, none);
    for (const char* symbol : {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz"})
      cuda.call(symbol, special, function, blocks, 1u, 1u, 1u, 1u, 1u, 0u, no_stream, none);
    for (const char* symbol : {"cuLaunchKernelEx", "cuLaunchKernelEx_ptsz"})
      cuda.call(symbol, special, &one, function, none, none);
  }
  cuda.call("cuLaunchCooperativeKernelMultiDevice", "usual", none, 0u, 0u);
  cuda.call("cuFuncLoad", "usual", function);
}

void modules() {
  const Handle none = nullptr;
  const Handle all[] = {cuda.get<Handle>("cuModuleLoad", "usual", "/dev/null"),
                        cuda.get<Handle>("cuModuleLoadData", "usual", ""),
                        cuda.get<Handle>("cuModuleLoadDataEx", "usual", "", 0u, none, none),
                        cuda.get<Handle>("cuModuleLoadFatBinary", "usual", "")};
  cuda.get<Handle>("cuModuleLoad", "no such file", "/no/such/file");
  variables("cuModuleGetGlobal_v2", all[0]);
  launches(cuda.get<Handle>("cuModuleGetFunction", "usual", all[0], "train"));
  for (const Handle module : all) cuda.release("cuModuleUnload", module);
}

void libraries() {
  const Handle none = nullptr;
  const Handle all[] = {
      cuda.get<Handle>("cuLibraryLoadData", "usual", "", none, none, 0u, none, none, 0u),
      cuda.get<Handle>("cuLibraryLoadFromFile", "usual", "/dev/null", none, none, 0u, none, none, 0u)};
  cuda.get<Handle>("cuLibraryLoadFromFile", "no such file", "/no/such/file", none, none, 0u, none, none, 0u);
  variables("cuLibraryGetGlobal", all[0]);
  variables("cuLibraryGetManaged", all[1]);
  for (const Handle library : all) cuda.release("cuLibraryUnload", library);
}

void streams_and_events() {
  const auto stream = cuda.get<Handle>("cuStreamCreate", "usual", 0u);
  const auto urgent = cuda.get<Handle>("cuStreamCreateWithPriority", "usual", 1u, -1);
  const auto event = cuda.get<Handle>("cuEventCreate", "usual", 0u);
  for (const char* symbol : {"cuStreamSynchronize", "cuStreamSynchronize_ptsz"}) {
    cuda.call(symbol, "usual", stream);
    cuda.call(symbol, "the default stream", no_stream);
  }
  cuda.call("cuEventSynchronize", "usual", event);
  cuda.release("cuStreamDestroy", stream);
  cuda.release("cuStreamDestroy_v2", urgent);
  cuda.release("cuEventDestroy_v2", event);
}

}  // namespace

void code_and_streams() {
  modules();
  libraries();
  streams_and_events();
}
