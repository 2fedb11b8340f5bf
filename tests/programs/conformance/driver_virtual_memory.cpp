// Physical memory, its mappings, tiles and bindings.
#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

constexpr int descriptor_type = 1;

allocation_properties device_memory(int device) {
  allocation_properties wanted{};
  wanted.type = 1, wanted.handle_types = descriptor_type, wanted.location = {location_device, device};
  return wanted;
}

Pointer physical() {
  const auto wanted = device_memory(0);
  return cuda.get<Pointer>("cuMemCreate", "2 MiB", page_bytes, &wanted, 0ull);
}

void mappings() {
  const auto elsewhere = device_memory(99), here = device_memory(0);
  access_description access{{location_device, 0}, 3};
  int descriptor = -1;
  cuda.get<Pointer>("cuMemCreate", "device 99", page_bytes, &elsewhere, 0ull);
  cuda.get<Pointer>("cuMemCreate", "too much", std::size_t{1} << 50, &here, 0ull);
  cuda.get<Pointer>("cuMemCreate", "no whole pages", std::size_t{17}, &here, 0ull);
  const auto range =
      cuda.get<Pointer>("cuMemAddressReserve", "8 MiB", 4 * page_bytes, std::size_t{0}, Pointer{0}, 0ull);
  const Pointer memory = physical();
  cuda.call("cuMemMap", "usual", range, page_bytes, std::size_t{0}, memory, 0ull);
  cuda.call("cuMemMap", "over it", range, page_bytes, std::size_t{0}, memory, 0ull);
  cuda.call("cuMemMap", "outside", Pointer{0x1234000}, page_bytes, std::size_t{0}, memory, 0ull);
  cuda.call("cuMemMap", "no memory", range + page_bytes, page_bytes, std::size_t{0}, Pointer{0}, 0ull);
  cuda.call("cuMemSetAccess", "usual", range, page_bytes, &access, std::size_t{1});
  const auto again = cuda.get<Pointer>("cuMemRetainAllocationHandle", "usual", Handle(range));
  cuda.get<Pointer>("cuMemRetainAllocationHandle", "of nothing", Handle(range + page_bytes));
  cuda.call("cuMemExportToShareableHandle", "usual", &descriptor, memory, descriptor_type, 0ull);
  const auto imported = cuda.get<Pointer>("cuMemImportFromShareableHandle", "usual",
                                          reinterpret_cast<Handle>(std::intptr_t{descriptor}), descriptor_type);
  cuda.call("cuMemGetHandleForAddressRange", "usual", &descriptor, range, page_bytes, 1, 0ull);
  cuda.call("cuMemGetHandleForAddressRange", "of nothing", &descriptor, range + page_bytes, page_bytes, 1, 0ull);
  cuda.call("cuMemRelease", "a reference", again);
  cuda.release("cuMemRelease", imported);
  cuda.release("cuMemRelease", memory);
  cuda.call("cuMemAddressFree", "while mapped", range, 4 * page_bytes);
  cuda.release("cuMemUnmap", range, page_bytes);
  cuda.release("cuMemAddressFree", range, 4 * page_bytes);
}

void tiles(const char* symbol) {
  constexpr unsigned sparse = 0x40;
  constexpr int bytes = 1;
  array_description_3d about{1024, 1024, 0, bytes, 1, sparse};
  array_mapping entry{};
  const Pointer memory = physical();
  const auto array = cuda.get<Handle>("cuArray3DCreate_v2", "sparse", &about);
  entry.resource = array, entry.operation = array_operation::map, entry.memory = memory, entry.device_mask = 1;
  cuda.call(symbol, "usual", &entry, 1u, no_stream);
  entry.operation = array_operation::unmap, entry.memory = 0;
  cuda.call(symbol, "unmapping", &entry, 1u, no_stream);
  cuda.call(symbol, "unmapping again", &entry, 1u, no_stream);
  cuda.release("cuArrayDestroy", array);
  cuda.release("cuMemRelease", memory);
}

void multicast() {
  multicast_properties wanted{1, 4 * page_bytes, 0, 0};
  const auto object = cuda.get<Pointer>("cuMulticastCreate", "usual", &wanted);
  const auto range = cuda.get<Pointer>("cuMemAddressReserve", "2 MiB", page_bytes, std::size_t{0}, Pointer{0}, 0ull);
  const Pointer memory = physical();
  cuda.call("cuMulticastAddDevice", "device 99", object, 99);
  cuda.call("cuMulticastAddDevice", "device 0", object, 0);
  cuda.call("cuMulticastBindMem", "usual", object, std::size_t{0}, memory, std::size_t{0}, page_bytes, 0ull);
  cuda.call("cuMulticastBindMem", "over it", object, std::size_t{0}, memory, std::size_t{0}, page_bytes, 0ull);
  cuda.call("cuMemMap", "usual", range, page_bytes, std::size_t{0}, memory, 0ull);
  cuda.call("cuMulticastBindAddr", "usual", object, page_bytes, range, page_bytes, 0ull);
  cuda.call("cuMulticastBindAddr", "of nothing", object, page_bytes, Pointer{0}, page_bytes, 0ull);
  for (const char* time : {"usual", "again"})
    cuda.call("cuMulticastUnbind", time, object, 0, std::size_t{0}, page_bytes);
  cuda.release("cuMemRelease", object);
  cuda.call("cuMemUnmap", "usual", range, page_bytes);
  cuda.release("cuMemRelease", memory);
}

}  // namespace

void virtual_memory() {
  mappings();
  for (const char* symbol : {"cuMemMapArrayAsync", "cuMemMapArrayAsync_ptsz"}) tiles(symbol);
  multicast();
}
