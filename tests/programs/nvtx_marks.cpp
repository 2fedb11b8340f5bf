// Sets marks and ranges by NVTX around allocations, and says what its functions return: nvtx_marks [COUNT]
//
// With COUNT it sets so many marks as fast as it can.
#include <nvtx3/nvToolsExt.h>

#include <cstring>

#include "driver_session.hpp"

namespace {

nvtxEventAttributes_t attributes_of(nvtxStringHandle_t registered) {
  nvtxEventAttributes_t attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = registered;
  return attributes;
}

}  // namespace

int main(int argc, char** argv) {
  nvtxMarkA("before CUDA");
  const DriverApi api = driver_by_dlsym();
  start(api);
  if (argc > 1) {
    for (int i = 0, count = std::atoi(argv[1]); i < count; ++i) nvtxMarkA("one of many");
    return 0;
  }
  CUdeviceptr block = 0;
  std::printf("push: %d\n", nvtxRangePushA("training"));
  std::printf("push: %d\n", nvtxRangePushA("epoch \"3\""));
  nvtxRangePushA("too deep");
  api.cuMemAlloc(&block, 1013);
  std::printf("pop: %d\n", nvtxRangePop());
  std::printf("pop: %d\n", nvtxRangePop());
  std::printf("pop: %d\n", nvtxRangePop());
  nvtxRangePop();
  nvtxMarkA("after");
  nvtxMarkW(L"wide characters are not told");

  const nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  const nvtxEventAttributes_t attributes = attributes_of(nvtxDomainRegisterStringA(domain, "registered"));
  std::printf("domain push: %d\n", nvtxDomainRangePushEx(domain, &attributes));
  std::printf("domain pop: %d\n", nvtxDomainRangePop(domain));
  std::printf("start: %llu\n", static_cast<unsigned long long>(nvtxDomainRangeStartEx(domain, &attributes)));
  const nvtxEventAttributes_t unregistered = attributes_of(nullptr);
  nvtxDomainMarkEx(domain, &unregistered);
}
