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

status cudaMemPoolExportToShareableHandle(void* out, memory_pool* pool, int type, unsigned flags) {
  return driver().cuMemPoolExportToShareableHandle(out, pool, type, flags);
}

status cudaMemPoolImportFromShareableHandle(memory_pool** out, void* os_handle, int type, unsigned flags) {
  return driver().cuMemPoolImportFromShareableHandle(out, os_handle, type, flags);
}

status cudaMemPoolExportPointer(ipc_handle* out, void* address) {
  return driver().cuMemPoolExportPointer(out, reinterpret_cast<device_ptr>(address));
}

status cudaMemPoolImportPointer(void** out, memory_pool* pool, ipc_handle* from) {
  return driver().cuMemPoolImportPointer(reinterpret_cast<device_ptr*>(out), pool, from);
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
