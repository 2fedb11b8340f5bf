#include "analyze/error_codes.hpp"

#include <algorithm>
#include <iterator>

namespace gpumem {
namespace {

constexpr CodeMeaning codes[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "an argument is out of range, or a pointer is not one that CUDA gave out"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "the driver could not get the memory, on the device or on the host"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "CUDA was not started in this process, or was started before a fork"},
    {4, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down, as it does while a process exits"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "the toolkit's stub was loaded instead of the driver's libcuda"},
    {35, "cudaErrorInsufficientDriver", "the driver is older than this CUDA runtime needs"},
    {36, "cudaErrorCallRequiresNewerDriver", "this call needs a newer driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the device is busy or unavailable to this process"},
    {98, "cudaErrorInvalidDeviceFunction", "no code in the program fits this device"},
    {100, "CUDA_ERROR_NO_DEVICE", "the driver sees no usable device"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "there is no device of this number"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "a kernel image is invalid for this device"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "there is no valid context, or it has been destroyed"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the program holds no code for this generation of GPU"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "the device found a memory error that it could not correct"},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "the context is in use by another thread"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "a call to the operating system failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "a handle is not valid"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an earlier kernel used an illegal address; the context is unusable"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context has been destroyed"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "an earlier kernel failed; the context is unusable"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "the call is not permitted here, for example inside a stream callback"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "this device or driver does not support the call"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready: its fabric or a service has not come up"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "libcuda and the kernel driver have different versions"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility is not supported on this device"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS client could not reach the control daemon"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the call may not be made while the stream is being captured"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "an earlier error has invalidated the capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "two captures would have become one"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture did not begin on this stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "a stream that joined the capture was not joined back"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "a capture would depend on work outside it"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "the default stream would take part in the capture"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "the event was last recorded in a capture"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture was begun by another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error: the driver itself does not know why"},
};

struct Renumbered {
  std::int64_t old;
  std::int64_t now;
};

constexpr Renumbered before_10_1[] = {
    {3, 3}, {8, 98}, {10, 101}, {11, 1}, {17, 1}, {29, 4}, {30, 999}, {38, 100}, {39, 214}, {47, 200}, {48, 209},
};

}  // namespace

const CodeMeaning* find_code(std::int64_t code) {
  const auto found =
      std::find_if(std::begin(codes), std::end(codes), [code](const CodeMeaning& known) { return known.code == code; });
  return found == std::end(codes) ? nullptr : found;
}

bool returned_out_of_memory(const FailureRecord& failure) { return failure.in_code.value_or(failure.code) == 2; }

std::optional<std::int64_t> modern_code_of_old_runtime(std::int64_t code) {
  for (const auto& entry : before_10_1) {
    if (entry.old == code && entry.now != code) return entry.now;
  }
  return std::nullopt;
}

}  // namespace gpumem
