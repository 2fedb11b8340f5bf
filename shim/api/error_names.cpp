#include "api/error_names.hpp"

namespace gpumem {

const char* driver_error_name(int code) {
  switch (code) {
#define CUDA_ERROR_CODE(number, driver, runtime) \
  case number: return driver;
#include "api/error_codes.def"
#undef CUDA_ERROR_CODE
    default: return nullptr;
  }
}

const char* runtime_error_name(int code) {
  switch (code) {
#define CUDA_ERROR_CODE(number, driver, runtime) \
  case number: return runtime;
#include "api/error_codes.def"
#undef CUDA_ERROR_CODE
    default: return nullptr;
  }
}

}  // namespace gpumem
