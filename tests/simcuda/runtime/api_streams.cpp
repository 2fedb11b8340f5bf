// SPDX-License-Identifier: Apache-2.0
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {

status cudaStreamCreate(stream** out) { return driver().cuStreamCreate(out, 0); }
status cudaStreamCreateWithFlags(stream** out, unsigned flags) { return driver().cuStreamCreate(out, flags); }

status cudaStreamCreateWithPriority(stream** out, unsigned flags, int priority) {
  return driver().cuStreamCreateWithPriority(out, flags, priority);
}

status cudaStreamDestroy(stream* queue) { return driver().cuStreamDestroy_v2(queue); }
status cudaStreamSynchronize(stream* queue) { return driver().cuStreamSynchronize(queue); }
status cudaStreamQuery(stream* queue) { return driver().cuStreamQuery(queue); }
status cudaStreamGetPriority(stream* queue, int* priority) { return driver().cuStreamGetPriority(queue, priority); }
status cudaStreamGetFlags(stream* queue, unsigned* flags) { return driver().cuStreamGetFlags(queue, flags); }
#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaStreamGetId(stream* queue, unsigned long long* id) { return driver().cuStreamGetId(queue, id); }
#endif

status cudaStreamWaitEvent(stream* queue, event* mark, unsigned flags) {
  return driver().cuStreamWaitEvent(queue, mark, flags);
}

status cudaStreamIsCapturing(stream* queue, int* capturing) { return driver().cuStreamIsCapturing(queue, capturing); }

status cudaStreamAddCallback(stream* queue, void (*callback)(stream*, status, void*), void* data, unsigned flags) {
  return driver().cuStreamAddCallback(queue, callback, data, flags);
}

status cudaLaunchHostFunc(stream* queue, host_function callback, void* data) {
  return driver().cuLaunchHostFunc(queue, callback, data);
}

status cudaThreadExchangeStreamCaptureMode(int* mode) { return driver().cuThreadExchangeStreamCaptureMode(mode); }

status cudaEventCreate(event** out) { return driver().cuEventCreate(out, 0); }
status cudaEventCreateWithFlags(event** out, unsigned flags) { return driver().cuEventCreate(out, flags); }
status cudaEventDestroy(event* mark) { return driver().cuEventDestroy_v2(mark); }
status cudaEventRecord(event* mark, stream* queue) { return driver().cuEventRecord(mark, queue); }

status cudaEventRecordWithFlags(event* mark, stream* queue, unsigned flags) {
  return driver().cuEventRecordWithFlags(mark, queue, flags);
}

status cudaEventQuery(event* mark) { return driver().cuEventQuery(mark); }
status cudaEventSynchronize(event* mark) { return driver().cuEventSynchronize(mark); }

status cudaEventElapsedTime(float* milliseconds, event* start, event* end) {
  return driver().cuEventElapsedTime(milliseconds, start, end);
}

#if SIMCUDA_RUNTIME_VERSION >= 12000
status cudaStreamGetDevice(stream* queue, int* device) { return driver().cuStreamGetDevice(queue, device); }
#endif

}  // namespace simcuda::runtime_api
