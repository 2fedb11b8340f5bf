#include "probe/start_attempt.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "probe/section.hpp"

namespace gpumem {
namespace {

struct Uuid {
  unsigned char bytes[16];
};

// The driver's functions, as CUDA 11.0 and later declare them.
using Init = int(unsigned);
using GetVersion = int(int*);
using GetCount = int(int*);
using GetDevice = int(int*, int);
using GetName = int(char*, int, int);
using GetUuid = int(Uuid*, int);
using Retain = int(void**, int);
using SetCurrent = int(void*);
using GetMemory = int(std::size_t*, std::size_t*);

std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += digits;
  }
  return text;
}

class Attempt {
 public:
  Attempt(Findings& findings, void* library) : findings_(findings), library_(library) {}

  void make() {
    int version = 0;
    if (call<GetVersion>("cuDriverGetVersion", &version) == 0) findings_.add("/driver_version", version);
    int count = 0;
    if (!succeeds<Init>("cuInit", 0u) || !succeeds<GetCount>("cuDeviceGetCount", &count)) return;
    findings_.add("/devices", nlohmann::ordered_json::array());
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      if (!start_on(ordinal)) return;
    }
  }

 private:
  static constexpr int not_exported = 500;  // CUDA_ERROR_NOT_FOUND

  template <class Signature, class... Arguments>
  int call(const char* name, Arguments... arguments) {
    findings_.doing(name);
    auto* function = reinterpret_cast<Signature*>(::dlsym(library_, name));
    return function ? function(arguments...) : not_exported;
  }

  template <class Signature, class... Arguments>
  bool succeeds(const char* name, Arguments... arguments) {
    const int code = call<Signature>(name, arguments...);
    if (code == 0) return true;
    findings_.add("/call", name);
    findings_.add("/code", code);
    return false;
  }

  bool start_on(int ordinal) {
    nlohmann::ordered_json about = {{"ordinal", ordinal}};
    findings_.add("/device", ordinal);
    int device = 0;
    if (!succeeds<GetDevice>("cuDeviceGet", &device, ordinal)) return false;
    char text[256] = "";
    if (call<GetName>("cuDeviceGetName", text, static_cast<int>(sizeof text), device) == 0) about["name"] = text;
    if (call<GetName>("cuDeviceGetPCIBusId", text, static_cast<int>(sizeof text), device) == 0) about["pci"] = text;
    Uuid uuid{};
    if (call<GetUuid>("cuDeviceGetUuid", &uuid, device) == 0) about["uuid"] = uuid_text(uuid);
    findings_.add("/devices/-", about);
    void* context = nullptr;
    if (!succeeds<Retain>("cuDevicePrimaryCtxRetain", &context, device)) return false;
    std::size_t free = 0, total = 0;
    if (succeeds<SetCurrent>("cuCtxSetCurrent", context) && succeeds<GetMemory>("cuMemGetInfo_v2", &free, &total)) {
      const std::string owner = "/devices/" + std::to_string(ordinal);
      findings_.add(owner + "/free_bytes", free);
      findings_.add(owner + "/total_bytes", total);
      findings_.add("/device", nullptr);
      return true;
    }
    return false;
  }

  Findings& findings_;
  void* library_;
};

void tell_attempt(Findings& findings) {
  findings.doing("dlopen");
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    findings.add("/status", "absent");
    findings.add("/reason", ::dlerror());
    return;
  }
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) findings.add("/path", map->l_name);
  Attempt(findings, library).make();
}

}  // namespace

nlohmann::ordered_json attempt_start(std::chrono::milliseconds deadline) {
  return run_sections({tell_attempt}, deadline).front();
}

}  // namespace gpumem
