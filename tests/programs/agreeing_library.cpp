// Stands in for a CUDA that is newer than all that there are here: it has every function of cuda_api.def, does nothing,
// and says that it went well.
#include "api/cuda_types.hpp"

namespace gpumem {
extern "C" {

#define CUDA_API(result, symbol, parameters, ...) \
  result symbol parameters { return cuda_success; }
#include "api/cuda_api.def"

}  // extern "C"
}  // namespace gpumem
