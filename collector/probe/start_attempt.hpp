// Starts CUDA for real, as a program would: the driver, and a context on each device that this process can see.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

namespace gpumem {

// In a child process, with a deadline; what it takes of the devices ends with it.
//
//   {"status": as of a section of the probe, or "absent" where libcuda cannot be loaded, "in", "reason",
//    "path": of libcuda, "driver_version": 12040,
//    "call", "code": of the first call that failed, with "device" where it was about one,
//    "devices": [{"ordinal", "uuid", "pci", "name", "total_bytes", "free_bytes"}…] those with a context}
nlohmann::ordered_json attempt_start(std::chrono::milliseconds deadline);

}  // namespace gpumem
