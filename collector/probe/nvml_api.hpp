// NVML as the probe calls it: opened when asked, never linked, and declared here so that no header of NVIDIA is needed.
#pragma once

namespace gpumem::nvml {

using Result = int;
inline constexpr Result success = 0;
inline constexpr Result not_found = 6;
inline constexpr Result insufficient_size = 7;
inline constexpr Result function_not_found = 13;

using Device = struct DeviceHandle*;

struct Memory {
  unsigned long long total, free, used;
};

struct MemoryV2 {
  unsigned version = sizeof(MemoryV2) | 2u << 24;
  unsigned long long total, reserved, free, used;
};

struct ProcessV1 {
  unsigned pid;
  unsigned long long used;
};

struct Process {  // of the functions that end in _v2 and in _v3
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

struct Pci {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

template <class Signature>
struct Function {
  const char* symbol;
  Signature* address = nullptr;  // null where the library has none
};

struct Library {
#define NVML(name, parameters) Function<Result parameters> name{#name};
#include "probe/nvml_functions.def"
#undef NVML
  const char* (*nvmlErrorString)(Result) = nullptr;
};

// Of a library that dlopen has opened.
Library functions_of(void* handle);

}  // namespace gpumem::nvml
