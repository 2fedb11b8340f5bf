// SPDX-License-Identifier: Apache-2.0
// Hints about managed memory: before CUDA 13 the plain names have a device where later ones have a location.
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {
namespace {

device_ptr address_of(const void* pointer) { return reinterpret_cast<device_ptr>(pointer); }

}  // namespace

#if SIMCUDA_RUNTIME_VERSION >= 13000
status cudaMemAdvise(const void* address, std::size_t bytes, int advice, memory_location where) {
  return driver().cuMemAdvise_v2(address_of(address), bytes, advice, where);
}

status cudaMemPrefetchAsync(const void* address, std::size_t bytes, memory_location where, unsigned flags,
                            stream* queue) {
  return driver().cuMemPrefetchAsync_v2(address_of(address), bytes, where, flags, queue);
}

status cudaMemPrefetchBatchAsync(void** addresses, std::size_t* sizes, std::size_t count, memory_location* where,
                                 std::size_t* which, std::size_t locations, unsigned long long flags, stream* queue) {
  return driver().cuMemPrefetchBatchAsync(reinterpret_cast<device_ptr*>(addresses), sizes, count, where, which,
                                          locations, flags, queue);
}

status cudaMemDiscardBatchAsync(void** addresses, std::size_t* sizes, std::size_t count, unsigned long long flags,
                                stream* queue) {
  return driver().cuMemDiscardBatchAsync(reinterpret_cast<device_ptr*>(addresses), sizes, count, flags, queue);
}
#else
status cudaMemAdvise(const void* address, std::size_t bytes, int advice, int device) {
  return driver().cuMemAdvise(address_of(address), bytes, advice, device);
}

status cudaMemPrefetchAsync(const void* address, std::size_t bytes, int device, stream* queue) {
  return driver().cuMemPrefetchAsync(address_of(address), bytes, device, queue);
}
#endif
#if SIMCUDA_RUNTIME_VERSION / 1000 == 12
status cudaMemAdvise_v2(const void* address, std::size_t bytes, int advice, memory_location where) {
  return driver().cuMemAdvise_v2(address_of(address), bytes, advice, where);
}

status cudaMemPrefetchAsync_v2(const void* address, std::size_t bytes, memory_location where, unsigned flags,
                               stream* queue) {
  return driver().cuMemPrefetchAsync_v2(address_of(address), bytes, where, flags, queue);
}
#endif

status cudaStreamAttachMemAsync(stream* queue, void* address, std::size_t bytes, unsigned flags) {
  return driver().cuStreamAttachMemAsync(queue, address_of(address), bytes, flags);
}

}  // namespace simcuda::runtime_api
