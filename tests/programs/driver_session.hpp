// The driver functions that the programs of this folder call, and the session that the route_* programs share:
// how a program found the functions is the only thing in which those differ.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

// SESSION_CALLS(row): row(name, version in which its ABI appeared, name of that ABI's symbol)
#define SESSION_CALLS(row)                                                                               \
  row(cuInit, 2000, "cuInit") row(cuDeviceGet, 2000, "cuDeviceGet")                                      \
      row(cuDevicePrimaryCtxRetain, 7000, "cuDevicePrimaryCtxRetain")                                    \
          row(cuDevicePrimaryCtxRelease, 11000, "cuDevicePrimaryCtxRelease_v2")                          \
              row(cuCtxSetCurrent, 4000, "cuCtxSetCurrent") row(cuMemAlloc, 3020, "cuMemAlloc_v2")       \
                  row(cuMemFree, 3020, "cuMemFree_v2") row(cuMemAllocManaged, 6000, "cuMemAllocManaged") \
                      row(cuMemHostAlloc, 2020, "cuMemHostAlloc") row(cuMemFreeHost, 2000, "cuMemFreeHost")

struct DriverApi {
#define MEMBER(name, version, symbol) PFN_##name##_v##version name = nullptr;
  SESSION_CALLS(MEMBER)
#undef MEMBER
};

// Fills every member with find(name, version, symbol).
template <typename Find>
DriverApi driver_by(Find&& find) {
  DriverApi api;
#define FILL(name, version, symbol)                         \
  if (void* found = find(#name, version, symbol))           \
    api.name = reinterpret_cast<decltype(api.name)>(found); \
  else                                                      \
    std::printf("%s was not found\n", #name), std::exit(3);
  SESSION_CALLS(FILL)
#undef FILL
  return api;
}

inline void* open_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) std::printf("%s\n", dlerror()), std::exit(3);
  return library;
}

inline DriverApi driver_by_dlsym(void* library = open_driver()) {
  return driver_by([library](const char*, int, const char* symbol) { return dlsym(library, symbol); });
}

inline void say(const char* call, CUresult code) { std::printf("%s: %d\n", call, static_cast<int>(code)); }

inline CUcontext start(const DriverApi& api) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  say("cuInit", api.cuInit(0));
  say("cuDeviceGet", api.cuDeviceGet(&device, 0));
  say("cuDevicePrimaryCtxRetain", api.cuDevicePrimaryCtxRetain(&context, device));
  say("cuCtxSetCurrent", api.cuCtxSetCurrent(context));
  return context;
}

// One block of each kind that is freed, one that is not, one that cannot be had, and one freed twice.
inline void work(const DriverApi& api) {
  CUdeviceptr kept = 0, freed = 0, managed = 0, impossible = 0;
  void* pinned = nullptr;
  say("keeps 10007", api.cuMemAlloc(&kept, 10007));
  say("takes 20011", api.cuMemAlloc(&freed, 20011));
  say("takes 30011 managed", api.cuMemAllocManaged(&managed, 30011, CU_MEM_ATTACH_GLOBAL));
  say("takes 40009 pinned", api.cuMemHostAlloc(&pinned, 40009, 0));
  say("asks for too much", api.cuMemAlloc(&impossible, (1ull << 50) + 17));
  say("frees 20011", api.cuMemFree(freed));
  say("frees it again", api.cuMemFree(freed));
  say("frees 30011", api.cuMemFree(managed));
  say("frees 40009", api.cuMemFreeHost(pinned));
}

inline void session(const DriverApi& api) {
  start(api);
  work(api);
}
