// Memory of other processes, interfaces and devices in a driver program: foreign_ways WAY…
//
// Sizes are unlike anything else's, so that a test finds each block again.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "driver_calls.hpp"

namespace {

CUmemAllocationProp exportable() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return properties;
}

CUmemGenericAllocationHandle physical(std::size_t pages) {
  const auto properties = exportable();
  CUmemGenericAllocationHandle handle = 0;
  MUST(cuMemCreate, &handle, pages * page, &properties, 0);
  return handle;
}

void* as_pointer(int descriptor) { return reinterpret_cast<void*>(std::intptr_t{descriptor}); }

void external() {
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC about{};
  about.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  about.size = 1 << 20;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{};
  part.offset = 4096, part.size = 70001;
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image{};
  image.arrayDesc.Width = 16, image.arrayDesc.Height = 16, image.arrayDesc.NumChannels = 1;
  image.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  image.numLevels = 1;
  CUexternalMemory first = nullptr, second = nullptr;
  CUmipmappedArray levels = nullptr;
  CUdeviceptr buffer = 0;
  for (CUexternalMemory* each : {&first, &second}) {
    about.handle.fd = memfd_create("external", 0);
    if (ftruncate(about.handle.fd, 1 << 20) != 0) std::exit(3);
    MUST(cuImportExternalMemory, each, &about);
  }
  MUST(cuExternalMemoryGetMappedBuffer, &buffer, first, &part);
  MUST(cuExternalMemoryGetMappedMipmappedArray, &levels, first, &image);
  MUST(cuMemFree_v2, buffer);
  MUST(cuMipmappedArrayDestroy, levels);
  MUST(cuDestroyExternalMemory, first);
  MUST_FAIL(cuDestroyExternalMemory, first);
  MUST(cuExternalMemoryGetMappedBuffer, &buffer, second, &part);
}

void graphics() {
  const auto register_buffer = reinterpret_cast<CUresult (*)(CUgraphicsResource*, unsigned, unsigned)>(
      dlsym(driver, "cuGraphicsGLRegisterBuffer"));
  CUgraphicsResource first = nullptr, second = nullptr;
  CUdeviceptr address = 0, same = 0;
  std::size_t bytes = 0;
  must("cuGraphicsGLRegisterBuffer", register_buffer(&first, 1, 0));
  must("cuGraphicsGLRegisterBuffer", register_buffer(&second, 2, 0));
  MUST(cuGraphicsMapResources, 1, &first, nullptr);
  MUST(cuGraphicsResourceGetMappedPointer_v2, &address, &bytes, first);
  MUST(cuGraphicsResourceGetMappedPointer_v2, &same, &bytes, first);
  MUST(cuGraphicsResourceGetMappedPointer_v2, nullptr, &bytes, first);
  MUST(cuGraphicsUnmapResources, 1, &first, nullptr);
  MUST(cuGraphicsMapResources, 1, &first, nullptr);
  MUST(cuGraphicsResourceGetMappedPointer_v2, &address, &bytes, first);
  MUST(cuGraphicsUnregisterResource, first);  // ends its view
  MUST(cuGraphicsMapResources, 1, &second, nullptr);
  MUST(cuGraphicsResourceGetMappedPointer_v2, &address, &bytes, second);
}

void multicast() {
  CUmulticastObjectProp team{};
  team.numDevices = 1, team.size = 8 * page;
  CUmemGenericAllocationHandle object = 0, first = physical(2), second = physical(3);
  CUdeviceptr range = 0;
  MUST(cuMulticastCreate, &object, &team);
  MUST(cuMulticastAddDevice, object, 0);
  MUST(cuMulticastBindMem, object, 0, first, 0, 2 * page, 0);
  MUST(cuMemRelease, first);  // lives on in its binding
  MUST_FAIL(cuMulticastBindMem, object, 0, second, 0, 3 * page, 0);
  MUST(cuMemAddressReserve, &range, 4 * page, 0, 0, 0);
  MUST(cuMemMap, range, 3 * page, 0, second, 0);
  MUST(cuMulticastBindAddr, object, 2 * page, range, 3 * page, 0);
  MUST(cuMemUnmap, range, 3 * page);
  MUST(cuMemRelease, second);
  MUST(cuMulticastUnbind, object, 0, 0, 2 * page);
  MUST_FAIL(cuMulticastUnbind, object, 0, 0, 2 * page);
}

CUarray sparse_array() {
  CUDA_ARRAY3D_DESCRIPTOR about{};
  about.Width = 1024, about.Height = 1024, about.NumChannels = 1;
  about.Format = CU_AD_FORMAT_UNSIGNED_INT8, about.Flags = CUDA_ARRAY3D_SPARSE;
  CUarray array = nullptr;
  MUST(cuArray3DCreate_v2, &array, &about);
  return array;
}

CUarrayMapInfo tile(CUarray array, CUmemGenericAllocationHandle memory, unsigned column) {
  CUarrayMapInfo entry{};
  entry.resourceType = CU_RESOURCE_TYPE_ARRAY;
  entry.resource.array = array;
  entry.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
  entry.subresource.sparseLevel.offsetX = column * 256;
  entry.subresource.sparseLevel.extentWidth = 256;
  entry.subresource.sparseLevel.extentHeight = 256;
  entry.subresource.sparseLevel.extentDepth = 1;
  entry.memOperationType = memory ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP;
  entry.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
  entry.memHandle.memHandle = memory;
  entry.deviceBitMask = 1;
  return entry;
}

void sparse() {
  const CUmemGenericAllocationHandle unmapped = physical(1), destroyed = physical(2), ended = physical(3),
                                     replaced = physical(4);
  const CUarray first = sparse_array();
  CUarrayMapInfo map[]{tile(first, unmapped, 0), tile(first, destroyed, 1), tile(first, replaced, 2)};
  CUarrayMapInfo change[]{tile(first, 0, 0), tile(first, destroyed, 2)};
  MUST(cuMemMapArrayAsync, map, 3, nullptr);
  for (const auto handle : {unmapped, replaced}) MUST(cuMemRelease, handle);
  MUST(cuMemMapArrayAsync_ptsz, change, 2, nullptr);
  MUST(cuMemRelease, destroyed);
  MUST(cuArrayDestroy, first);
  const CUcontext context = new_context();
  CUarrayMapInfo last = tile(sparse_array(), ended, 0);
  MUST(cuMemMapArrayAsync, &last, 1, nullptr);
  MUST(cuMemRelease, ended);
  MUST(cuCtxDestroy_v2, context);
}

void imported() {
  CUmemGenericAllocationHandle own = physical(2), theirs = 0;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr, imported_pool = nullptr;
  CUmemPoolPtrExportData exported{};
  CUdeviceptr range = 0, block = 0, shared = 0;
  int descriptor = -1;
  MUST(cuMemExportToShareableHandle, &descriptor, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  MUST(cuMemImportFromShareableHandle, &theirs, as_pointer(descriptor), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  MUST(cuMemAddressReserve, &range, 2 * page, 0, 0, 0);
  MUST(cuMemMap, range, 2 * page, 0, theirs, 0);
  MUST(cuMemRelease, theirs);
  MUST(cuMemUnmap, range, 2 * page);
  MUST(cuMemPoolCreate, &pool, &properties);
  MUST(cuMemAllocFromPoolAsync, &block, 80021, pool, nullptr);
  MUST(cuMemPoolExportToShareableHandle, &descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  MUST(cuMemPoolImportFromShareableHandle, &imported_pool, as_pointer(descriptor),
       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  MUST(cuMemPoolExportPointer, &exported, block);
  MUST(cuMemPoolImportPointer, &shared, imported_pool, &exported);
}

void green() {
  CUdevResource whole{};
  CUdevResourceDesc description = nullptr;
  CUgreenCtx first = nullptr, second = nullptr;
  CUcontext converted = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr block = 0;
  MUST(cuDeviceGetDevResource, 0, &whole, CU_DEV_RESOURCE_TYPE_SM);
  MUST(cuDevResourceGenerateDesc, &description, &whole, 1);
  MUST(cuGreenCtxCreate, &first, description, 0, CU_GREEN_CTX_DEFAULT_STREAM);
  MUST(cuGreenCtxCreate, &second, description, 0, CU_GREEN_CTX_DEFAULT_STREAM);
  MUST(cuGreenCtxStreamCreate, &stream, first, CU_STREAM_NON_BLOCKING, 0);
  MUST(cuCtxFromGreenCtx, &converted, first);
  MUST(cuCtxSetCurrent, converted);
  MUST(cuMemAlloc_v2, &block, 80039);
  MUST(cuMemFree_v2, block);
  MUST(cuStreamDestroy_v2, stream);
  MUST(cuCtxSetCurrent, nullptr);
  MUST(cuGreenCtxDestroy, first);
}

void exports() {
  CUdeviceptr block = 0, range = 0;
  CUmemGenericAllocationHandle memory = physical(1);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  int descriptor = -1;
  MUST(cuMemAlloc_v2, &block, page);
  MUST(cuMemGetHandleForAddressRange, &descriptor, block + 4096, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  MUST(cuMemAddressReserve, &range, page, 0, 0, 0);
  MUST(cuMemMap, range, page, 0, memory, 0);
  MUST(cuMemSetAccess, range, page, &access, 1);
  MUST(cuMemGetHandleForAddressRange, &descriptor, range, page, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  MUST_FAIL(cuMemGetHandleForAddressRange, &descriptor, 4096, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
}

constexpr Way ways[] = {{"external", external}, {"graphics", graphics}, {"multicast", multicast}, {"sparse", sparse},
                        {"imported", imported}, {"green", green},       {"exports", exports}};

}  // namespace

int main(int argc, char** argv) { return run_ways_in_context(ways, argc, argv); }
