#include "render/call_names.hpp"

#include "catch.hpp"

using namespace gpumem;

namespace {

struct StackOfFrames {
  ProcessAnalysis process;
  Symbolizer symbols;

  void module(std::uint64_t id, const std::string& path, const char* role = nullptr) {
    ModuleRecord& record = process.all_modules[id];
    record.id = id;
    record.path = path;
    if (role) record.role = role;
  }
  void name(std::uint64_t id, std::uint64_t offset, NamedFrames frames) {
    symbols.add_known({{CodeFile{*process.all_modules[id].path, ""}, FileNames{{{offset, std::move(frames)}}, ""}}});
  }
  void place(std::uint64_t id, const char* file, std::uint64_t line, const char* name) {
    PythonRecord& record = process.python_places[id];
    record.id = id;
    record.file = file;
    record.line = line;
    record.name = name;
  }
  CallName call(std::vector<Frame> frames) {
    process.stacks[1].frames = std::move(frames);
    return CallNames(process, symbols).of(1);
  }
};

SourceFrame frame(const char* function, const char* file = nullptr, int line = 0) {
  return {function, file ? std::optional<std::string>(file) : std::nullopt, line ? std::optional(line) : std::nullopt};
}

}  // namespace

TEST_CASE("a call site is the first frame of the user's own code") {
  StackOfFrames stack;
  stack.module(1, "/usr/lib/libcudart.so.13", "runtime");
  stack.module(2, "/opt/app/train");
  stack.module(3, "/usr/lib/libc.so.6");
  stack.name(2, 0x10, {frame("load(int, float)", "/src/train.cpp", 42)});
  const auto call = stack.call({{1, 0x5}, {2, 0x10}, {3, 0x7}});
  CHECK(call.label == "load (train.cpp:42)");
  CHECK(call.library == "train");
  CHECK(call.frames.size() == 3);
}

TEST_CASE("a static runtime lies in the user's file and is still folded, named or not") {
  StackOfFrames stack;
  stack.module(1, "/opt/app/a.out", "static_runtime");
  stack.name(1, 0x30, {frame("cudaFree")});
  stack.name(1, 0x40, {frame("start_gpu()", "/src/a.cpp", 12)});
  const auto call = stack.call({{1, 0x10}, {1, 0x20}, {1, 0x30}, {1, 0x40}, {1, 0x50}});
  CHECK(call.label == "start_gpu (a.cpp:12)");
  CHECK(call.through == "cudaFree");
  CHECK(call.frames[0].owner == FrameOwner::cuda);
  CHECK(call.frames[4].owner == FrameOwner::user);
}

TEST_CASE("a user's own function may begin with cuda where no static runtime is") {
  StackOfFrames stack;
  stack.module(1, "/opt/app/a.out");
  stack.name(1, 0x30, {frame("cuda_wrapper::grow(int)")});
  CHECK(stack.call({{1, 0x30}}).label == "cuda_wrapper::grow (a.out)");
}

TEST_CASE("a library that passes CUDA's functions on under their names is not the call site") {
  StackOfFrames stack;
  stack.module(1, "/opt/app/libframework.so");
  stack.name(1, 0x30, {frame("cuMemAlloc_v2")});
  stack.name(1, 0x40, {frame("cudaMalloc")});
  stack.name(1, 0x50, {frame("cuMemPool::grow(int)")});
  const auto call = stack.call({{1, 0x30}, {1, 0x40}, {1, 0x50}});
  CHECK(call.label == "cuMemPool::grow (libframework.so)");
  CHECK(call.through == "cudaMalloc");
}

TEST_CASE("a stack of nothing but the interpreter is Python code") {
  StackOfFrames stack;
  stack.module(1, "/usr/lib/x86_64-linux-gnu/libffi.so.8");
  stack.module(2, "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so");
  stack.module(3, "/usr/bin/python3.11");
  CHECK(stack.call({{1, 1}, {2, 1}, {3, 1}}).label == "Python code (python3.11)");
}

TEST_CASE("an extension module in Python's folders is not the interpreter") {
  StackOfFrames stack;
  stack.module(1, "/usr/lib/python3.11/site-packages/train/_ops.so");
  stack.module(2, "/usr/bin/python3.11");
  CHECK(stack.call({{1, 0x1234}, {2, 1}}).label == "_ops.so+0x1234");
}

TEST_CASE("inlined functions are frames of their own") {
  StackOfFrames stack;
  stack.module(1, "/opt/app/a.out");
  stack.name(1, 0x30, {frame("std::vector<int>::resize(unsigned long)"), frame("grow(int)", "/src/a.cpp", 5)});
  const auto call = stack.call({{1, 0x30}});
  CHECK(call.label == "grow (a.cpp:5)");
  CHECK(call.frames[0].inlined);
}

TEST_CASE("parameters are left out of names, operators and anonymous namespaces are not") {
  StackOfFrames stack;
  stack.module(1, "/opt/app/a.out");
  stack.name(1, 0x30, {frame("(anonymous namespace)::pool::operator()(int) const")});
  CHECK(stack.call({{1, 0x30}}).label == "(anonymous namespace)::pool::operator() (a.out)");
}

TEST_CASE("stacks that are missing or empty have a name too") {
  StackOfFrames stack;
  CallNames names(stack.process, stack.symbols);
  CHECK_THAT(names.of(0).label, ContainsSubstring("could not be taken"));
  CHECK_THAT(names.of(99).label, ContainsSubstring("not in the journal"));
  CHECK(stack.call({{0, 0xabc}}).label == "0xabc");
}

TEST_CASE("a Python program's call site is its own line, through the framework that it called") {
  StackOfFrames stack;
  stack.module(1, "/v/lib/python3.11/site-packages/torch/lib/libc10_cuda.so");
  stack.module(2, "/v/lib/python3.11/site-packages/torch/lib/libtorch_python.so");
  stack.module(3, "/usr/bin/python3.11");
  stack.name(1, 0x10, {frame("c10::cuda::CUDACachingAllocator::Native::malloc(int)")});
  stack.place(1, "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", 114, "Linear.forward");
  stack.place(2, "/home/me/train.py", 42, "Model.forward");
  stack.place(3, "/home/me/train.py", 88, "<module>");
  const auto call = stack.call({{1, 0x10}, {2, 0x20}, {0, 0, 1}, {3, 1}, {0, 0, 2}, {3, 2}, {0, 0, 3}, {3, 3}});
  CHECK(call.label == "Model.forward (train.py:42)");
  CHECK(call.library == "libc10_cuda.so");
  REQUIRE(call.shown.size() == 2);
  CHECK(call.shown[0].text == "Model.forward  /home/me/train.py:42");
  CHECK(call.shown[1].text == "<module>  /home/me/train.py:88");
  CHECK(call.frames[0].owner == FrameOwner::allocator);
  CHECK(call.frames[2].python);
  CHECK(call.frames[2].owner == FrameOwner::framework);
}

TEST_CASE("where only installed code is on the stack, that is shown") {
  StackOfFrames stack;
  stack.module(1, "/usr/lib/libcuda.so.1", "driver");
  stack.module(2, "/opt/torch/lib/libtorch_cuda.so");
  stack.module(3, "/lib/libc.so.6");
  stack.name(2, 0x10, {frame("at::native::empty_cuda(int)")});
  const auto call = stack.call({{1, 1}, {2, 0x10}, {3, 1}});
  CHECK(call.label == "at::native::empty_cuda (libtorch_cuda.so)");
  CHECK(call.shown.size() == 1);
}

TEST_CASE("the library of a call site is the first above CUDA, though the site is the user's") {
  StackOfFrames stack;
  stack.module(1, "/usr/lib/libcuda.so.1", "driver");
  stack.module(2, "/usr/local/cuda/lib64/libcublas.so.13");
  stack.module(3, "/opt/app/train");
  stack.name(3, 0x10, {frame("solve(int)", "/src/train.cpp", 7)});
  const auto call = stack.call({{1, 1}, {2, 0x30}, {3, 0x10}});
  CHECK(call.label == "solve (train.cpp:7)");
  CHECK(call.library == "libcublas.so.13");
}

TEST_CASE("a Python place that the journal lacks is said to be missing") {
  StackOfFrames stack;
  CHECK_THAT(stack.call({{0, 0, 7}}).label, ContainsSubstring("not in the journal"));
}
