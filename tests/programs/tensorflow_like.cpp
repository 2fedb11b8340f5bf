// Starts CUDA as TensorFlow does: asks the driver first, and only then, device by device, the runtime. Says what fails
// in TensorFlow's words.
//
// tensorflow_like [with_context]: also takes hold of the first device beforehand, as releases up to 2.3 do.
//
// Linked with cuda_stubs, which exports the functions of both and finds them when they are called.
#include <cstdio>
#include <cstring>

extern "C" {
int cuInit(unsigned flags);
int cuDeviceGetCount(int* count);
int cuDeviceGet(int* device, int ordinal);
int cuDriverGetVersion(int* version);
int cuDeviceGetPCIBusId(char* id, int length, int device);
int cuDeviceTotalMem_v2(size_t* bytes, int device);
int cuDeviceGetName(char* name, int length, int device);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cudaGetDevice(int* device);
int cudaSetDevice(int device);
int cudaFree(void* pointer);
const char* cudaGetErrorString(int code);
}

namespace {

// Number of devices, or -1.
int describe_devices() {
  int count = 0, version = 0;
  if (cuInit(0) != 0 || cuDeviceGetCount(&count) != 0) return -1;
  for (int i = 0; i < count; ++i) {
    int device = -1;
    char id[32], name[64];
    size_t bytes = 0;
    if (cuDeviceGet(&device, i) != 0 || cuDriverGetVersion(&version) != 0) return -1;
    if (cuDeviceGetPCIBusId(id, sizeof id, device) != 0 || cuDeviceTotalMem_v2(&bytes, device) != 0) return -1;
    if (cuDeviceGetName(name, sizeof name, device) != 0) return -1;
    std::printf("Found device %d: %s %s\n", i, id, name);
  }
  return count;
}

int failed(const char* what, int code) {
  std::printf("%s failed. Status: %s\n", what, cudaGetErrorString(code));
  return 1;
}

int failed(const char* what, int device, int code) {
  char words[64];
  std::snprintf(words, sizeof words, "%s on GPU:%d", what, device);
  return failed(words, code);
}

}  // namespace

extern "C" __attribute__((noinline)) int create_devices(int count) {
  int original = 0;
  if (const int code = cudaGetDevice(&original)) return failed("cudaGetDevice()", code);
  for (int i = 0; i < count; ++i) {
    if (const int code = cudaSetDevice(i)) return failed("cudaSetDevice()", i, code);
    if (const int code = cudaFree(nullptr)) return failed("CUDA runtime implicit initialization", i, code);
  }
  if (const int code = cudaSetDevice(original)) return failed("cudaSetDevice()", original, code);
  return 0;
}

int main(int argc, char** argv) {
  const int count = describe_devices();
  if (count < 0) return 2;
  void* context = nullptr;
  if (argc > 1 && std::strcmp(argv[1], "with_context") == 0 && cuDevicePrimaryCtxRetain(&context, 0) != 0) return 2;
  const int status = create_devices(count);
  if (status == 0) std::printf("Created %d devices\n", count);
  return status;
}
