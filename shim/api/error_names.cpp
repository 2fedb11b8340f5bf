#include "api/error_names.hpp"

namespace gpumem {

const char* driver_error_name(int code) {
  switch (code) {
#define RUNTIME_ERROR(number, name)
#define DRIVER_ERROR(number, name) \
  case number:                     \
    return #name;
#include "api/error_codes.def"
#undef DRIVER_ERROR
#undef RUNTIME_ERROR
    default: return nullptr;
  }
}

const char* runtime_error_name(int code) {
  switch (code) {
#define DRIVER_ERROR(number, name)
#define RUNTIME_ERROR(number, name) \
  case number:                      \
    return #name;
#include "api/error_codes.def"
#undef DRIVER_ERROR
#undef RUNTIME_ERROR
    default: return nullptr;
  }
}

}  // namespace gpumem
