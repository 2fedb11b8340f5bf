// A library that brings code for the device along, in one of two builds: BUILD is all that they differ in.
#include "driver_calls.hpp"

extern "C" int start_engine() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  MUST(cuInit, 0);
  MUST(cuDevicePrimaryCtxRetain, &context, 0);
  MUST(cuCtxSetCurrent, context);
  return CU(cuModuleLoadData)(&module, "code of the " BUILD " build");
}
