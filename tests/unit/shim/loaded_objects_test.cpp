#include "base/loaded_objects.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <cstring>

#include "catch.hpp"

using namespace gpumem;

namespace {

LoadedObject c_library() {
  LoadedObject found;
  REQUIRE(find_object(reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), found));
  return found;
}

}  // namespace

TEST_CASE("exported functions are found at the address that dlsym gives") {
  const LoadedObject libc = c_library();
  void* handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);  // a sanitizer has functions of the same names
  for (const char* name : {"gnu_get_libc_version", "abort", "open", "getenv", "posix_fallocate"})
    CHECK(libc.exported_function(name) == dlsym(handle, name));
  dlclose(handle);
}

TEST_CASE("what is not an exported function is not found") {
  const LoadedObject libc = c_library();
  for (const char* name : {"", "no_such_function", "cuInit", "abort_", "environ"})
    CHECK(libc.exported_function(name) == nullptr);
}

TEST_CASE("a library knows its soname and its needs") {
  const LoadedObject libc = c_library();
  CHECK(std::strcmp(libc.soname(), "libc.so.6") == 0);
  CHECK(libc.needs("ld-linux-x86-64.so.2"));
  CHECK_FALSE(libc.needs("libcuda.so.1"));
}

TEST_CASE("this object contains this code, and has a build-id of 20 bytes if any") {
  const LoadedObject self = this_object();
  CHECK(self.contains(reinterpret_cast<std::uintptr_t>(&c_library)));
  CHECK_FALSE(self.contains(reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version) + (std::uintptr_t{1} << 46)));
  const unsigned char* id = nullptr;
  const std::size_t size = c_library().build_id(id);
  CHECK(size == 20);
}

TEST_CASE("an address outside every file belongs to none") {
  int on_stack = 0;
  LoadedObject found;
  CHECK_FALSE(find_object(reinterpret_cast<std::uintptr_t>(&on_stack), found));
}

TEST_CASE("loading a library is counted") {
  const LoadCounters before = load_counters();
  void* library = dlopen("libm.so.6", RTLD_NOW);
  void* another = dlopen("libanl.so.1", RTLD_NOW);
  if (another != nullptr) CHECK(load_counters().added > before.added);
  if (library != nullptr) dlclose(library);
  if (another != nullptr) dlclose(another);
}
