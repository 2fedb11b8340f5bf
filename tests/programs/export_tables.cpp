// The private tables that runtimes and tools ask the driver for, with all that is in them: export_tables
//
// Prints, for both ways to find cuGetExportTable, which table each identifier gives: code, place in its file, size, and
// each slot as a place in a file, or as the number that it is.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

struct Identifier {
  unsigned char bytes[16];
};

using GetExportTable = int (*)(const void**, const Identifier*);
using Resolver = int (*)(const char*, void**, int, std::uint64_t, int*);

// Asked for by cudart and by NVIDIA's tools.
constexpr Identifier identifiers[] = {
    {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
    {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
    {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
    {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
    {0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e},
    {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
    {0x19, 0x5b, 0xcb, 0xf4, 0xd6, 0x7d, 0x02, 0x4a, 0xac, 0xc5, 0x1d, 0x29, 0xce, 0xa6, 0x31, 0xae},
    {0x0c, 0xa5, 0x0b, 0x8c, 0x10, 0x04, 0x92, 0x9a, 0x89, 0xa7, 0xd0, 0xdf, 0x10, 0xe7, 0x72, 0x86},
    // The simulated driver's own.
    {0x73, 0x69, 0x6d, 0x63, 0x75, 0x64, 0x61, 0x20, 0x61, 0x63, 0x63, 0x6f, 0x75, 0x6e, 0x74, 0x73},
    {},
};

constexpr std::size_t longest_table = 4096;

void print_place(const void* address) {
  Dl_info info{};
  if (address == nullptr || !dladdr(address, &info)) {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    number < longest_table ? std::printf("%zu", number) : std::printf("elsewhere");
    return;
  }
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
  std::printf("%s+0x%zx", slash ? slash + 1 : info.dli_fname, static_cast<std::size_t>(offset));
}

void print_table(const void* table) {
  std::size_t size = 0;
  std::memcpy(&size, table, sizeof size);
  // Most tables begin with their size; one begins with a function and has at least four.
  if (size > longest_table) size = 4 * sizeof(void*);
  std::printf(" of %zu bytes:", size);
  const auto* const slots = static_cast<const void* const*>(table);
  for (std::size_t i = 0; i < size / sizeof(void*); ++i) std::printf(" "), print_place(slots[i]);
}

void print_all(const char* found_by, GetExportTable get) {
  std::printf("%s: %s\n", found_by, get ? "found" : "missing");
  if (get == nullptr) return;
  print_place(reinterpret_cast<const void*>(get));
  std::printf("\n");
  for (const auto& identifier : identifiers) {
    const void* table = &identifier;
    const int code = get(&table, &identifier);
    std::printf("%02x%02x%02x%02x: %d ", identifier.bytes[0], identifier.bytes[1], identifier.bytes[2],
                identifier.bytes[3], code);
    if (code == 0) print_place(table), print_table(table);
    std::printf(" %s\n", table == &identifier ? "untouched" : "written");
  }
}

}  // namespace

int main() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return 2;
  print_all("dlsym", reinterpret_cast<GetExportTable>(dlsym(library, "cuGetExportTable")));
  const auto resolve = reinterpret_cast<Resolver>(dlsym(library, "cuGetProcAddress_v2"));
  void* found = nullptr;
  if (resolve) resolve("cuGetExportTable", &found, 3000, 0, nullptr);
  print_all("cuGetProcAddress", reinterpret_cast<GetExportTable>(found));
}
