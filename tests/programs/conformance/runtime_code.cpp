// Libraries, kernels, streams and events.
#include "driver/resource_types.h"
#include "runtime/types.h"
#include "runtime_themes.hpp"

using namespace simcuda;

namespace {

const Handle none = nullptr;

void libraries() {
  std::size_t bytes = 0;
  const Handle all[] = {
      cuda.get<Handle>("cudaLibraryLoadData", "usual", "", none, none, 0u, none, none, 0u),
      cuda.get<Handle>("cudaLibraryLoadFromFile", "usual", "/dev/null", none, none, 0u, none, none, 0u)};
  for (const char* symbol : {"cudaLibraryGetGlobal", "cudaLibraryGetManaged"}) {
    cuda.get<Handle>(symbol, "usual", &bytes, all[0], "weights");
    cuda.get<Handle>(symbol, "no name", &bytes, all[0], none);
  }
  for (const Handle library : all) cuda.release("cudaLibraryUnload", library);
  last_error();
}

// Nothing of this program is a kernel or a variable of the device.
void unknown_code() {
  static const char symbol = 0;
  constexpr dimensions one{1, 1, 1};
  runtime_launch wanted{};
  for (const char* launch :
       {"cudaLaunchKernel", "cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel_ptsz"})
    cuda.call(launch, "no kernel", &symbol, one, one, none, std::size_t{0}, no_stream);
  for (const char* launch : {"cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz"})
    cuda.call(launch, "no kernel", &wanted, &symbol, none);
  cuda.get<Handle>("cudaGetSymbolAddress", "no variable", &symbol);
  char attributes[1024];
  cuda.call("cudaFuncGetAttributes", "no kernel", attributes, &symbol);
  last_error();
}

void streams_and_events() {
  const Handle streams[] = {cuda.get<Handle>("cudaStreamCreate", "usual"),
                            cuda.get<Handle>("cudaStreamCreateWithFlags", "usual", 1u),
                            cuda.get<Handle>("cudaStreamCreateWithPriority", "usual", 1u, -1)};
  const Handle events[] = {cuda.get<Handle>("cudaEventCreate", "usual"),
                           cuda.get<Handle>("cudaEventCreateWithFlags", "usual", 0u)};
  for (const Handle stream : streams)
    for (const char* symbol : {"cudaStreamSynchronize", "cudaStreamSynchronize_ptsz"})
      cuda.call(symbol, "usual", stream);
  for (const Handle event : events) cuda.call("cudaEventSynchronize", "usual", event);
  for (const Handle stream : streams) cuda.release("cudaStreamDestroy", stream);
  for (const Handle event : events) cuda.release("cudaEventDestroy", event);
  last_error();
}

}  // namespace

void code_and_streams() {
  libraries();
  unknown_code();
  streams_and_events();
}
