// Compiled where nvml.h is: the probe's declarations against it.
#define NVML_NO_UNVERSIONED_FUNC_DEFS  // declares every version of a function under its exported name, without macros
#include <nvml.h>

#include <cstddef>

#include "abi.h"
#include "probe/nvml_api.hpp"

using namespace gpumem::nvml;

#define NVML(name, parameters) static_assert(simcuda::test::same_abi<Result parameters, decltype(::name)>, #name);
#include "probe/nvml_functions.def"
#undef NVML

#define SAME_PLACE(ours, our_member, theirs, their_member)                                                      \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) &&                                 \
                    sizeof(ours::our_member) == sizeof(theirs::their_member) && sizeof(ours) == sizeof(theirs), \
                #ours "::" #our_member)
SAME_PLACE(Memory, total, nvmlMemory_t, total);
SAME_PLACE(Memory, free, nvmlMemory_t, free);
SAME_PLACE(Memory, used, nvmlMemory_t, used);
SAME_PLACE(MemoryV2, version, nvmlMemory_v2_t, version);
SAME_PLACE(MemoryV2, total, nvmlMemory_v2_t, total);
SAME_PLACE(MemoryV2, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(MemoryV2, free, nvmlMemory_v2_t, free);
SAME_PLACE(MemoryV2, used, nvmlMemory_v2_t, used);
SAME_PLACE(ProcessV1, pid, nvmlProcessInfo_v1_t, pid);
SAME_PLACE(ProcessV1, used, nvmlProcessInfo_v1_t, usedGpuMemory);
SAME_PLACE(Process, pid, nvmlProcessInfo_v2_t, pid);
SAME_PLACE(Process, used, nvmlProcessInfo_v2_t, usedGpuMemory);
SAME_PLACE(Process, gpu_instance, nvmlProcessInfo_v2_t, gpuInstanceId);
SAME_PLACE(Process, compute_instance, nvmlProcessInfo_t, computeInstanceId);
SAME_PLACE(Pci, bus, nvmlPciInfo_t, bus);
SAME_PLACE(Pci, id, nvmlPciInfo_t, busId);

static_assert(MemoryV2{}.version == nvmlMemory_v2);
static_assert(success == NVML_SUCCESS);
static_assert(not_found == NVML_ERROR_NOT_FOUND);
static_assert(insufficient_size == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(function_not_found == NVML_ERROR_FUNCTION_NOT_FOUND);
