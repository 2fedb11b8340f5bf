#include "api/api_table.hpp"

#include <set>
#include <string>

#include "api/error_names.hpp"
#include "catch.hpp"

using namespace gpumem;

TEST_CASE("every row is found by its own name and by no other") {
  std::set<std::string> names;
  for (unsigned i = 0; i < api_count; ++i) {
    const auto api = static_cast<ApiId>(i);
    CHECK(find_api(api_name(api)) == api);
    CHECK(find_api((std::string(api_name(api)) + "_").c_str()) == ApiId::none);
    CHECK(names.insert(api_name(api)).second);
  }
}

TEST_CASE("names that only look like CUDA's are not found") {
  for (const char* name : {"", "c", "cu", "cuda", "cudnnCreate", "cuMemAlloc_v22", "malloc", "cublasCreate_v2"})
    CHECK(find_api(name) == ApiId::none);
}

TEST_CASE("rows are told apart into runtime and driver") {
  CHECK(is_runtime(ApiId::cudaMalloc));
  CHECK_FALSE(is_runtime(ApiId::cuMemAlloc_v2));
}

TEST_CASE("error codes have the names that each level gives them") {
  CHECK(std::string(driver_error_name(2)) == "CUDA_ERROR_OUT_OF_MEMORY");
  CHECK(std::string(runtime_error_name(2)) == "cudaErrorMemoryAllocation");
  CHECK(std::string(runtime_error_name(35)) == "cudaErrorInsufficientDriver");
  CHECK(driver_error_name(35) == nullptr);
  CHECK(driver_error_name(-1) == nullptr);
  CHECK(runtime_error_name(12345) == nullptr);
}
