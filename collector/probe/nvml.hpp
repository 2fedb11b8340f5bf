// What NVML says of the driver, the devices and the processes that use them.
#pragma once

#include "probe/section.hpp"

namespace gpumem {

void tell_nvml(Findings& findings);

}  // namespace gpumem
