// SPDX-License-Identifier: Apache-2.0
#include "runtime/api.h"
#include "runtime/start.h"

namespace simcuda::runtime_api {
namespace {

enum channel_kind { signed_kind, unsigned_kind, float_kind };

/// The driver's format of a description of channels; channels stay 0 where there is none.
array_description_3d describe(const channel_description& wanted, extent size, unsigned flags) {
  array_description_3d result{size.width, size.height, size.depth, 0, 0, flags};
  const int bits = wanted.bits[0];
  static constexpr int formats[3][3] = {{0x08, 0x09, 0x0a}, {0x01, 0x02, 0x03}, {0, 0x10, 0x20}};
  const int column = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : -1;
  if (column < 0 || wanted.kind < signed_kind || wanted.kind > float_kind) return result;
  unsigned channels = 0;
  while (channels < 4 && wanted.bits[channels] == bits) ++channels;
  for (unsigned rest = channels; rest < 4; ++rest) {
    if (wanted.bits[rest]) return result;
  }
  result.format = formats[wanted.kind][column];
  result.channels = channels;
  return result;
}

channel_description describe(const array_description_3d& about) {
  static constexpr struct {
    int format, bits;
    channel_kind kind;
  } known[] = {{0x08, 8, signed_kind},    {0x09, 16, signed_kind},   {0x0a, 32, signed_kind}, {0x01, 8, unsigned_kind},
               {0x02, 16, unsigned_kind}, {0x03, 32, unsigned_kind}, {0x10, 16, float_kind},  {0x20, 32, float_kind}};
  channel_description result{};
  for (const auto& row : known) {
    if (row.format != about.format) continue;
    for (unsigned channel = 0; channel < about.channels; ++channel) result.bits[channel] = row.bits;
    result.kind = row.kind;
  }
  return result;
}

}  // namespace

status cudaMalloc3DArray(device_array** out, const channel_description* wanted, extent size, unsigned flags) {
  if (!out || !wanted) return status::invalid_value;
  const auto description = describe(*wanted, size, flags);
  return driver().cuArray3DCreate_v2(out, &description);
}

status cudaMallocArray(device_array** out, const channel_description* wanted, std::size_t width, std::size_t height,
                       unsigned flags) {
  return cudaMalloc3DArray(out, wanted, {width, height, 0}, flags);
}

status cudaFreeArray(device_array* target) { return target ? driver().cuArrayDestroy(target) : status::success; }

status cudaMallocMipmappedArray(mipmapped_array** out, const channel_description* wanted, extent size, unsigned levels,
                                unsigned flags) {
  if (!out || !wanted) return status::invalid_value;
  const auto description = describe(*wanted, size, flags);
  return driver().cuMipmappedArrayCreate(out, &description, levels);
}

status cudaFreeMipmappedArray(mipmapped_array* target) {
  return target ? driver().cuMipmappedArrayDestroy(target) : status::success;
}

status cudaGetMipmappedArrayLevel(device_array** out, const mipmapped_array* target, unsigned level) {
  return driver().cuMipmappedArrayGetLevel(out, const_cast<mipmapped_array*>(target), level);
}

status cudaArrayGetInfo(channel_description* channels, extent* size, unsigned* flags, device_array* target) {
  array_description_3d about{};
  const status result = driver().cuArray3DGetDescriptor_v2(&about, target);
  if (result != status::success) return result;
  if (channels) *channels = describe(about);
  if (size) *size = {about.width, about.height, about.depth};
  if (flags) *flags = about.flags;
  return status::success;
}

status cudaArrayGetMemoryRequirements(array_requirements* out, device_array* target, int device) {
  return driver().cuArrayGetMemoryRequirements(out, target, device);
}

status cudaMipmappedArrayGetMemoryRequirements(array_requirements* out, mipmapped_array* target, int device) {
  return driver().cuMipmappedArrayGetMemoryRequirements(out, target, device);
}

status cudaArrayGetSparseProperties(sparse_properties* out, device_array* target) {
  return driver().cuArrayGetSparseProperties(out, target);
}

status cudaMipmappedArrayGetSparseProperties(sparse_properties* out, mipmapped_array* target) {
  return driver().cuMipmappedArrayGetSparseProperties(out, target);
}

status cudaExternalMemoryGetMappedMipmappedArray(mipmapped_array** out, external_memory* from,
                                                 const external_array_request* wanted) {
  if (!wanted) return status::invalid_value;
  external_array_description description{};
  description.offset = wanted->offset;
  description.about = describe(wanted->channels, wanted->size, wanted->flags);
  description.levels = wanted->levels;
  return driver().cuExternalMemoryGetMappedMipmappedArray(out, from, &description);
}

status cudaMalloc3D(pitched_pointer* out, extent size) {
  constexpr unsigned element_bytes = 4;
  if (!out) return status::invalid_value;
  *out = {nullptr, 0, size.width, size.height};
  if (!size.width || !size.height || !size.depth) return status::success;
  std::size_t rows = 0;
  if (__builtin_mul_overflow(size.height, size.depth, &rows)) return status::out_of_memory;
  auto* slot = reinterpret_cast<device_ptr*>(&out->pointer);
  return driver().cuMemAllocPitch_v2(slot, &out->pitch, size.width, rows, element_bytes);
}

}  // namespace simcuda::runtime_api
