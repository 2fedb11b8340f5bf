// Linear, pitched, managed, page-locked and registered memory, and arrays.
#include "driver/resource_types.h"
#include "driver_themes.hpp"

using namespace simcuda;

namespace {

void allocations(const char* allocate, const char* release) {
  Output<Pointer> block, none, failed;
  cuda.call(allocate, "1009 bytes", &block, std::size_t{1009});
  block.print();
  cuda.call(allocate, "no bytes", &none, std::size_t{0});
  none.print();
  cuda.call(allocate, "no output", static_cast<Pointer*>(nullptr), std::size_t{64});
  cuda.call(allocate, "too much", &failed, too_much);
  failed.print();
  cuda.call(release, "the block", block.get());
  cuda.call(release, "the block again", block.get());
  cuda.call(release, "null", Pointer{0});
  cuda.call(release, "a wild pointer", Pointer{0x1234567});
}

void managed() {
  constexpr unsigned global = 1;
  Output<Pointer> block, none, flags;
  cuda.call("cuMemAllocManaged", "2003 bytes", &block, std::size_t{2003}, global);
  block.print();
  cuda.call("cuMemAllocManaged", "no bytes", &none, std::size_t{0}, global);
  none.print();
  cuda.call("cuMemAllocManaged", "unknown flags", &flags, std::size_t{64}, 0xffu);
  flags.print();
  cuda.call("cuMemAllocManaged", "no output", static_cast<Pointer*>(nullptr), std::size_t{64}, global);
  cuda.call("cuMemFree_v2", "managed block", block.get());
}

void pinned() {
  Output<Handle> block, old, none;
  cuda.call("cuMemHostAlloc", "3001 bytes", &block, std::size_t{3001}, 0u);
  block.print();
  cuda.call("cuMemAllocHost_v2", "3011 bytes", &old, std::size_t{3011});
  old.print();
  cuda.call("cuMemHostAlloc", "no bytes", &none, std::size_t{0}, 0u);
  none.print();
  cuda.call("cuMemHostAlloc", "no output", static_cast<Handle*>(nullptr), std::size_t{64}, 0u);
  cuda.call("cuMemFreeHost", "the block", block.get());
  cuda.call("cuMemFreeHost", "the block again", block.get());
  cuda.call("cuMemFreeHost", "the other block", old.get());
  cuda.call("cuMemFreeHost", "null", Handle{nullptr});
}

void pitched() {
  std::size_t pitch = 0;
  const auto rows = cuda.get<Pointer>("cuMemAllocPitch_v2", "7 rows", &pitch, std::size_t{1001}, std::size_t{7}, 4u);
  cuda.get<Pointer>("cuMemAllocPitch_v2", "no rows", &pitch, std::size_t{1001}, std::size_t{0}, 4u);
  cuda.get<Pointer>("cuMemAllocPitch_v2", "too much", &pitch, too_much, std::size_t{7}, 4u);
  cuda.get<Pointer>("cuMemAllocPitch_v2", "no element", &pitch, std::size_t{1001}, std::size_t{7}, 3u);
  cuda.get<Pointer>("cuMemAllocPitch_v2", "no pitch", Handle{}, std::size_t{1001}, std::size_t{7}, 4u);
  cuda.release("cuMemFree_v2", rows);
}

void registered() {
  alignas(4096) static char own[4096];
  for (const char* symbol : {"cuMemHostRegister", "cuMemHostRegister_v2"}) {
    cuda.call(symbol, "a page", Handle{own}, sizeof own, 0u);
    cuda.call(symbol, "again", Handle{own}, sizeof own, 0u);
    cuda.call(symbol, "no bytes", Handle{own}, std::size_t{0}, 0u);
    cuda.release("cuMemHostUnregister", Handle{own});
  }
}

void arrays() {
  constexpr int bytes = 1;
  array_description flat{16, 16, bytes, 1};
  array_description_3d deep{16, 16, 4, bytes, 1, 0}, unknown{16, 16, 4, 99, 1, 0};
  const auto first = cuda.get<Handle>("cuArrayCreate_v2", "flat", &flat);
  const auto second = cuda.get<Handle>("cuArray3DCreate_v2", "deep", &deep);
  const auto chain = cuda.get<Handle>("cuMipmappedArrayCreate", "2 levels", &deep, 2u);
  cuda.get<Handle>("cuMipmappedArrayCreate", "no levels", &deep, 0u);
  cuda.get<Handle>("cuArray3DCreate_v2", "an unknown format", &unknown);
  cuda.release("cuArrayDestroy", first);
  cuda.release("cuArrayDestroy", second);
  cuda.release("cuMipmappedArrayDestroy", chain);
}

}  // namespace

void memory() {
  allocations("cuMemAlloc_v2", "cuMemFree_v2");
  managed();
  pinned();
  pitched();
  registered();
  arrays();
}
