// Names of error codes, from the newest table: libcuda may not be there to ask.
//
// Numbers of runtimes before 10.1 differ (2 and 35 do not); the journal keeps the raw number beside the name.
#pragma once

namespace gpumem {

const char* driver_error_name(int code);   // "CUDA_ERROR_OUT_OF_MEMORY", or nullptr
const char* runtime_error_name(int code);  // "cudaErrorMemoryAllocation", or nullptr

}  // namespace gpumem
