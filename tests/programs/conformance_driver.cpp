// Every intercepted driver function, with the arguments that a program should give it and with those it should not.
#include "conformance.hpp"

namespace {

using Pointer = unsigned long long;
using Handle = void*;
constexpr std::size_t too_much = (1ull << 50) + 17;

const Library cuda("libcuda.so.1");

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

void stream_ordered(const char* allocate, const char* from_pool, const char* release) {
  Output<Handle> pool;
  Output<Pointer> block, pooled, none;
  cuda.call("cuDeviceGetDefaultMemPool", "device 0", &pool, 0);
  cuda.call(allocate, "4001 bytes", &block, std::size_t{4001}, Handle{nullptr});
  block.print();
  cuda.call(from_pool, "4003 bytes", &pooled, std::size_t{4003}, pool.get(), Handle{nullptr});
  pooled.print();
  cuda.call(allocate, "too much", &none, too_much, Handle{nullptr});
  none.print();
  cuda.call(allocate, "no output", static_cast<Pointer*>(nullptr), std::size_t{64}, Handle{nullptr});
  cuda.call(release, "the block", block.get(), Handle{nullptr});
  cuda.call(release, "the block again", block.get(), Handle{nullptr});
  cuda.call(release, "the pooled block", pooled.get(), Handle{nullptr});
}

void contexts() {
  Output<Handle> first, second, third, fourth, bad;
  cuda.call("cuCtxCreate", "device 0", &first, 0u, 0);
  first.print();
  cuda.call("cuMemAlloc_v2", "5003 bytes that end with their context", &bad, std::size_t{5003});
  cuda.call("cuCtxDestroy", "the context", first.get());
  cuda.call("cuCtxCreate_v2", "device 0", &second, 0u, 0);
  second.print();
  cuda.call("cuCtxDestroy_v2", "the context", second.get());
  cuda.call("cuCtxDestroy_v2", "the context again", second.get());
  cuda.call("cuCtxCreate_v3", "device 0", &third, Handle{nullptr}, 0, 0u, 0);
  third.print();
  cuda.call("cuCtxDestroy_v2", "the context", third.get());
  cuda.call("cuCtxCreate_v4", "device 0", &fourth, Handle{nullptr}, 0u, 0);
  fourth.print();
  cuda.call("cuCtxDestroy_v2", "the context", fourth.get());
  Output<Handle> no_device;
  cuda.call("cuCtxCreate_v2", "device 99", &no_device, 0u, 99);
  no_device.print();
  cuda.call("cuCtxCreate_v2", "no output", static_cast<Handle*>(nullptr), 0u, 0);
  cuda.call("cuCtxDestroy_v2", "null", Handle{nullptr});
}

void primary_context() {
  Output<Handle> context, no_device;
  cuda.call("cuDevicePrimaryCtxRelease_v2", "never retained", 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 99", &no_device, 99);
  no_device.print();
  cuda.call("cuDevicePrimaryCtxRetain", "no output", static_cast<Handle*>(nullptr), 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 0", &context, 0);
  context.print();
  cuda.call("cuDevicePrimaryCtxRetain", "device 0 again", &context, 0);
  cuda.call("cuDevicePrimaryCtxRelease", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxRelease_v2", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 0 once more", &context, 0);
  cuda.call("cuDevicePrimaryCtxReset", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxReset_v2", "device 99", 99);
  cuda.call("cuDevicePrimaryCtxReset_v2", "device 0", 0);
  cuda.call("cuDevicePrimaryCtxRetain", "device 0 for the rest", &context, 0);
  cuda.call("cuCtxSetCurrent", "the primary context", context.get());
}

void print_answer(const Output<void*>& function, const char* same_as) {
  const bool null = function.get() == nullptr;
  std::printf("    %s\n", null ? "null" : function.get() == cuda.find(same_as) ? same_as : "something else");
  function.print();
}

void resolvers() {
  struct Question {
    const char *name, *special;
    int version;
    const char* same_as;
  };
  constexpr Question questions[] = {{"cuMemAlloc", "version 3020", 3020, "cuMemAlloc_v2"},
                                    {"cuMemAlloc", "version 12000", 12000, "cuMemAlloc_v2"},
                                    {"cuMemAlloc_v2", "a suffixed name", 12000, "cuMemAlloc_v2"},
                                    {"cuMemAllocAsync", "too low a version", 5000, "cuMemAllocAsync"},
                                    {"cuCtxCreate", "version 3020", 3020, "cuCtxCreate_v2"},
                                    {"cuCtxCreate", "version 11040", 11040, "cuCtxCreate_v3"},
                                    {"cuNoSuchFunction", "an unknown name", 12000, "cuInit"},
                                    {"", "an empty name", 0, "cuInit"}};
  for (const auto& [name, special, version, same_as] : questions) {
    Output<void*> first, second;
    Output<int> status;
    std::printf("%s:\n", name);
    cuda.call("cuGetProcAddress", special, name, &first, version, 0ull);
    print_answer(first, same_as);
    cuda.call("cuGetProcAddress_v2", special, name, &second, version, 0ull, &status);
    print_answer(second, same_as);
    status.print();
  }
  Output<void*> without_status;
  cuda.call("cuGetProcAddress_v2", "no status", "cuInit", &without_status, 2000, 0ull, static_cast<int*>(nullptr));
  print_answer(without_status, "cuInit");
}

}  // namespace

int main() {
  cuda.print_missing("cuNoSuchFunction");
  Output<Pointer> early;
  cuda.call("cuMemAlloc_v2", "before cuInit", &early, std::size_t{64});
  early.print();
  resolvers();
  cuda.call("cuInit", "flags that do not exist", 1u);
  cuda.call("cuInit", "first", 0u);
  cuda.call("cuInit", "second", 0u);
  Output<Pointer> homeless;
  cuda.call("cuMemAlloc_v2", "without a context", &homeless, std::size_t{64});
  homeless.print();
  contexts();
  primary_context();
  allocations("cuMemAlloc_v2", "cuMemFree_v2");
  managed();
  pinned();
  stream_ordered("cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemFreeAsync");
  stream_ordered("cuMemAllocAsync_ptsz", "cuMemAllocFromPoolAsync_ptsz", "cuMemFreeAsync_ptsz");
}
