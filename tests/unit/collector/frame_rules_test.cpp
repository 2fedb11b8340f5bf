#include "analyze/frame_rules.hpp"

#include "catch.hpp"
#include "model/error.hpp"

using namespace gpumem;

TEST_CASE("frames: gpumem's own list parses, and knows whose the common libraries are") {
  const FrameRules& rules = FrameRules::built_in();
  CHECK(rules.of_module("/usr/lib/libcuda.so.550.163.01", "") == FrameOwner::cuda);
  CHECK(rules.of_module("/opt/x/libmine.so", "runtime") == FrameOwner::cuda);
  CHECK(rules.of_module("/lib/libc.so.6", "") == FrameOwner::language);
  CHECK(rules.of_module("/usr/bin/python3.11", "") == FrameOwner::interpreter);
  CHECK(rules.of_module("/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so", "") ==
        FrameOwner::interpreter);
  CHECK(rules.of_module("/v/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.13", "") ==
        FrameOwner::framework);
  CHECK(rules.of_module("/v/lib/python3.11/site-packages/some/_ops.so", "") == FrameOwner::framework);
  CHECK(rules.of_module("/home/me/libtorchestra/libtor.so", "") == FrameOwner::user);
}

TEST_CASE("frames: a file without a slash in its pattern is known by its name alone") {
  const FrameRules& rules = FrameRules::built_in();
  CHECK(rules.of_module("/home/me/libc.so.d/trainer", "") == FrameOwner::user);
  CHECK(rules.of_module("", "") == FrameOwner::user);
}

TEST_CASE("frames: allocators are known by their functions, wherever they lie") {
  const FrameRules& rules = FrameRules::built_in();
  const auto of = [&](FrameOwner module, const char* function) { return rules.of_function(module, "", function); };
  CHECK(of(FrameOwner::framework, "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(int)") ==
        FrameOwner::allocator);
  CHECK(of(FrameOwner::user, "rmm::mr::cuda_memory_resource::do_allocate(unsigned long)") == FrameOwner::allocator);
  CHECK(of(FrameOwner::user, "train(int)") == FrameOwner::user);
  CHECK(of(FrameOwner::framework, "at::native::empty_cuda(int)") == FrameOwner::framework);
  CHECK(of(FrameOwner::user, "std::vector<int*, std::allocator<int*> >::push_back(int* const&)") ==
        FrameOwner::language);
}

TEST_CASE("frames: installed Python packages are not the user's code, and the standard library is the interpreter's") {
  const FrameRules& rules = FrameRules::built_in();
  CHECK(rules.of_python("/home/me/train.py") == FrameOwner::user);
  CHECK(rules.of_python("<stdin>") == FrameOwner::user);
  CHECK(rules.of_python("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py") == FrameOwner::framework);
  CHECK(rules.of_python("/usr/lib/python3/dist-packages/cupy/_creation/basic.py") == FrameOwner::framework);
  CHECK(rules.of_python("/v/lib/python3.11/site-packages/cupy/cuda/memory.py") == FrameOwner::allocator);
  CHECK(rules.of_python("/usr/lib/python3.11/threading.py") == FrameOwner::interpreter);
  CHECK(rules.of_python("<frozen importlib._bootstrap>") == FrameOwner::interpreter);
}

TEST_CASE("frames: the user's list wins, in its own order") {
  FrameRules rules;
  rules.prefer(
      "# mine\n\n  user  module  libtorch_mine.so \r\nframework python */site-packages/mine/vendored/*\n"
      "user python */site-packages/mine/*\nlanguage function Log  and forward(*",
      "frames");
  CHECK(rules.of_module("/opt/libtorch_mine.so", "") == FrameOwner::user);
  CHECK(rules.of_module("/opt/libtorch_cuda.so", "") == FrameOwner::framework);
  CHECK(rules.of_python("/v/site-packages/mine/model.py") == FrameOwner::user);
  CHECK(rules.of_python("/v/site-packages/mine/vendored/x.py") == FrameOwner::framework);
  CHECK(rules.of_function(FrameOwner::user, "", "Log  and forward(int)") == FrameOwner::language);
}

TEST_CASE("frames: a line that is none is named with its list and number") {
  FrameRules rules;
  const auto refused = [&](const char* text) {
    try {
      rules.prefer(text, "/etc/mine");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused("\nmine module x"), ContainsSubstring("/etc/mine, line 2: \"mine\" is no owner"));
  CHECK_THAT(refused("user library x"), ContainsSubstring("line 1: \"library\" must be module"));
  CHECK_THAT(refused("user module"), ContainsSubstring("pattern is missing"));
  CHECK_THAT(refused("user module   "), ContainsSubstring("pattern is missing"));
}
