// SPDX-License-Identifier: Apache-2.0
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {

status cudaMemPoolCreate(memory_pool** pool, const pool_properties* properties) {
  return driver().cuMemPoolCreate(pool, properties);
}

status cudaMemPoolDestroy(memory_pool* pool) { return driver().cuMemPoolDestroy(pool); }
status cudaMemPoolTrimTo(memory_pool* pool, std::size_t keep) { return driver().cuMemPoolTrimTo(pool, keep); }

status cudaMemPoolGetAttribute(memory_pool* pool, int attribute, void* value) {
  return driver().cuMemPoolGetAttribute(pool, attribute, value);
}

status cudaMemPoolSetAttribute(memory_pool* pool, int attribute, void* value) {
  return driver().cuMemPoolSetAttribute(pool, attribute, value);
}

status cudaMemPoolSetAccess(memory_pool* pool, const access_description* accesses, std::size_t count) {
  return driver().cuMemPoolSetAccess(pool, accesses, count);
}

status cudaMemPoolGetAccess(int* flags, memory_pool* pool, memory_location* location) {
  return driver().cuMemPoolGetAccess(flags, pool, location);
}

#if SIMCUDA_RUNTIME_VERSION >= 13000
status cudaMemGetDefaultMemPool(memory_pool** pool, memory_location* location, int type) {
  return driver().cuMemGetDefaultMemPool(pool, location, type);
}
#endif

#if SIMCUDA_RUNTIME_VERSION >= 13000
status cudaMemGetMemPool(memory_pool** pool, memory_location* location, int type) {
  return driver().cuMemGetMemPool(pool, location, type);
}
#endif

#if SIMCUDA_RUNTIME_VERSION >= 13000
status cudaMemSetMemPool(memory_location* location, int type, memory_pool* pool) {
  return driver().cuMemSetMemPool(location, type, pool);
}
#endif

}  // namespace simcuda::runtime_api
