// The wrapper of each row of cuda_api.def, once per bank.
#pragma once

#include "api/api_table.hpp"

namespace gpumem {

// The function to hand out for a row. Its type is the row's own prototype.
void* wrapper(ApiId api, unsigned bank);

}  // namespace gpumem
