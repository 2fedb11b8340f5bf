// Every intercepted driver function, with the arguments that a program should give it and with those it should not:
// conformance_driver [careful]
#include <cstring>

#include "driver_themes.hpp"

namespace {

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

int main(int argc, char** argv) {
  Library::is_careful = argc > 1 && std::strcmp(argv[1], "careful") == 0;
  cuda.print_missing("cuNoSuchFunction");
  Output<Pointer> early;
  cuda.call("cuMemAlloc_v2", "before cuInit", &early, std::size_t{64});
  early.print();
  cuda.get<int>("cuDriverGetVersion", "before cuInit");
  cuda.call("cuDriverGetVersion", "no output", Handle{});
  resolvers();
  cuda.call("cuInit", "flags that do not exist", 1u);
  cuda.call("cuInit", "first", 0u);
  cuda.call("cuInit", "second", 0u);
  Output<Pointer> homeless;
  cuda.call("cuMemAlloc_v2", "without a context", &homeless, std::size_t{64});
  homeless.print();
  contexts();
  memory();
  pools();
  virtual_memory();
  foreign_memory();
  graphs();
  code_and_streams();
}
