// An NVML as older drivers have it, with the first version of each structure; its one device is split into instances,
// and its list of processes grows between two calls.
struct Memory {
  unsigned long long total, free, used;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
};

namespace {

enum { success = 0, not_found = 6, insufficient_size = 7 };

int device;
int instance;
unsigned processes = 10;

int say(char* text, unsigned length, const char* what) {
  unsigned i = 0;
  for (; what[i] && i + 1 < length; ++i) text[i] = what[i];
  text[i] = 0;
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return success; }
const char* nvmlErrorString(int) { return "no text"; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) { return say(text, length, "450.80.02"); }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, success; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, int** out) { return *out = &device, success; }
int nvmlDeviceGetUUID(int* of, char* text, unsigned length) {
  return say(text, length, of == &instance ? "MIG-3" : "GPU-1");
}
int nvmlDeviceGetMemoryInfo(int* of, Memory* memory) {
  *memory = {100, 60, of == &instance ? 5ull : 40ull};
  return success;
}
int nvmlDeviceGetMigMode(int*, unsigned* current, unsigned* pending) { return *current = 1, *pending = 0, success; }
int nvmlDeviceGetMaxMigDeviceCount(int*, unsigned* count) { return *count = 7, success; }
int nvmlDeviceGetMigDeviceHandleByIndex(int*, unsigned index, int** out) {
  return index == 3 ? (*out = &instance, success) : not_found;
}
int nvmlDeviceGetGpuInstanceId(int*, unsigned* id) { return *id = 9, success; }

int nvmlDeviceGetComputeRunningProcesses(int*, unsigned* count, ProcessInfo* infos) {
  const unsigned room = *count;
  processes += processes < 100 ? 30 : 0;
  *count = processes;
  if (room < processes) return insufficient_size;
  for (unsigned i = 0; i < processes; ++i) infos[i] = {4000000 + i, i ? i * 1000ull : ~0ull};
  return success;
}

}  // extern "C"
