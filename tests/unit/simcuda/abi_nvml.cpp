// SPDX-License-Identifier: Apache-2.0
// Compiled where nvml.h is: the simulated NVML's prototypes and structures against it.
#define NVML_NO_UNVERSIONED_FUNC_DEFS  // declares every version of a function under its exported name, without macros
#include <nvml.h>

#include "abi.h"
#include "nvml/api.h"

#define API_AS(export, body, need, parameters, arguments) \
  static_assert(simcuda::test::same_abi<simcuda::nvml::signature::export, decltype(::export)>, #export);
#include "nvml/api.def"

static_assert(sizeof(simcuda::nvml::memory_info) == sizeof(nvmlMemory_t));
static_assert(sizeof(simcuda::nvml::memory_info_v2) == sizeof(nvmlMemory_v2_t));
static_assert(sizeof(simcuda::nvml::process_info_v1) == sizeof(nvmlProcessInfo_v1_t));
static_assert(sizeof(simcuda::nvml::process_info) == sizeof(nvmlProcessInfo_t));
static_assert(sizeof(simcuda::nvml::pci_info) == sizeof(nvmlPciInfo_t));
