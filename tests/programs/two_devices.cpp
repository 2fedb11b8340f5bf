// Blocks of one device are freed while another one is current.
#include "driver_session.hpp"

namespace {

template <typename Function>
Function find(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(open_driver(), symbol));
}

}  // namespace

int main() {
  const DriverApi api = driver_by_dlsym();
  CUcontext contexts[2] = {};
  say("cuInit", api.cuInit(0));
  for (int device = 0; device < 2; ++device)
    say("cuDevicePrimaryCtxRetain", api.cuDevicePrimaryCtxRetain(&contexts[device], device));
  const auto allocate_ordered = find<CUresult (*)(CUdeviceptr*, std::size_t, CUstream)>("cuMemAllocAsync");
  const auto free_ordered = find<CUresult (*)(CUdeviceptr, CUstream)>("cuMemFreeAsync");
  const auto allocate_pitch =
      find<CUresult (*)(CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned)>("cuMemAllocPitch_v2");

  CUdeviceptr plain = 0, ordered = 0, pitched = 0, second = 0;
  std::size_t pitch = 0;
  say("current: device 0", api.cuCtxSetCurrent(contexts[0]));
  say("takes 10007", api.cuMemAlloc(&plain, 10007));
  say("takes 20011 in order", allocate_ordered(&ordered, 20011, nullptr));
  say("takes pitched memory", allocate_pitch(&pitched, &pitch, 100, 100, 4));
  say("current: device 1", api.cuCtxSetCurrent(contexts[1]));
  say("takes 30011", api.cuMemAlloc(&second, 30011));
  say("frees 10007", api.cuMemFree(plain));
  say("frees 20011", free_ordered(ordered, nullptr));
  say("frees pitched memory", api.cuMemFree(pitched));
}
