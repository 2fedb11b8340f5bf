// What the journal says around a first failure that is not the failure's own: the devices and the libraries.
#include <algorithm>
#include <set>
#include <sstream>

#include "first_failures.hpp"

using namespace gpumem::test;

namespace {

// The driver's calls that only the shim makes, in the order that the simulated driver saw them in.
std::vector<std::string> calls_of_shim(Stage& stage, std::vector<std::string> ways) {
  const auto trace = stage.folder() / "trace";
  stage.set("SIMCUDA_TRACE", trace);
  ways.insert(ways.begin(), program("first_failures"));
  stage.run_traced(ways);
  std::vector<std::string> calls;
  std::istringstream lines(read_text(trace));
  for (std::string line; std::getline(lines, line);)
    for (const char* own : {"cuDeviceGetCount", "cuDeviceGetAttribute", "cuCtxGetCurrent", "cuLogs"})
      if (line.find(own) != std::string::npos) calls.push_back(line);
  return calls;
}

std::set<std::string> files_of_modules(const Journal& journal) {
  std::set<std::string> files;
  for (const auto& line : journal.of_type("module"))
    files.insert(std::filesystem::path(line.at("path").get<std::string>()).filename());
  return files;
}

}  // namespace

TEST_CASE("first failure: every device that the process can see is described, used or not") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line script = failing("cuCtxCreate_v2", 2);
  script["devices"] = {Line::object(),
                       {{"compute_mode", "exclusive_process"}, {"compute_capability", {8, 6}}},
                       {{"compute_mode", "prohibited"}, {"compute_capability", {12, 1}}}};
  stage.script(script);
  const auto devices = journal_after(stage, {"start", "make_context", "make_context"}).of_type("device");
  REQUIRE(devices.size() == 3);
  const char* const modes[] = {"default", "exclusive_process", "prohibited"};
  const char* const capabilities[] = {"9.0", "8.6", "12.1"};
  for (int ordinal = 0; ordinal < 3; ++ordinal) {
    CHECK(devices[ordinal].at("d") == ordinal);
    CHECK(devices[ordinal].at("compute_mode") == modes[ordinal]);
    CHECK(devices[ordinal].at("capability") == capabilities[ordinal]);
  }
}

TEST_CASE("first failure: what the driver does not tell of a device is null") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  Line script = failing("cuDeviceGetAttribute", 999);
  script["rules"].push_back({{"call", "cuCtxCreate_v2"}, {"code", 2}});
  stage.script(script);
  const auto devices = journal_after(stage, {"start", "make_context"}).of_type("device");
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].at("compute_mode").is_null());
  CHECK(devices[0].at("capability").is_null());
}

TEST_CASE("first failure: a driver that has not started is not asked for its devices, but once it has") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(
      {{"rules", {{{"call", "cuInit"}, {"code", 999}, {"nth", 1}}, {{"call", "cuCtxCreate_v2"}, {"code", 2}}}}});
  for (const auto& call : calls_of_shim(stage, {"start"})) CHECK(call.starts_with("cuLogs"));
  CHECK(stage.journal().of_type("device").empty());
  Stage again;
  again.script(
      {{"rules", {{{"call", "cuInit"}, {"code", 999}, {"nth", 1}}, {{"call", "cuCtxCreate_v2"}, {"code", 2}}}}});
  CHECK(journal_after(again, {"start", "start", "make_context"}).of_type("device").size() == 1);
}

TEST_CASE("first failure: in a callback of the driver it is asked nothing") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuMemAlloc_v2", 800));
  const auto before = calls_of_shim(stage, {"start", "make_context"});
  Stage with_failure;
  with_failure.script(failing("cuMemAlloc_v2", 800));
  CHECK(calls_of_shim(with_failure, {"start", "make_context", "call_back"}) == before);
  REQUIRE(with_failure.journal().failures().size() == 1);
  CHECK(with_failure.journal().failures()[0].at("code") == 800);
}

TEST_CASE("first failure: the loaded libraries that have to do with GPUs are named, and no others") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuMemAlloc_v2", 2));
  const auto folder = stage.folder() / "opened" / "cupy" / "_core";
  std::filesystem::create_directories(folder);
  const std::set<std::string> named{"libtorch_cuda.so", "libc10_cuda.so",       "libcublasLt.so.13",
                                    "libOpenCL.so.1",   "libonnxruntime.so",    "libasan.so.8",
                                    "libnccl.so.2",     "_pywrap_tensorflow.so"};
  for (const auto& name : named)
    std::filesystem::copy_file(program("small_library.so"), stage.folder() / "opened" / name);
  for (const char* other : {"libcurl.so.4", "libxml2.so.2", "libcrypto.so.3"})
    std::filesystem::copy_file(program("small_library.so"), stage.folder() / "opened" / other);
  std::filesystem::copy_file(program("small_library.so"), folder / "core.so");
  CHECK(stage.run_traced({program("many_libraries"), stage.folder() / "opened"}).status == 0);
  const auto files = files_of_modules(stage.journal());
  for (const auto& name : named) {
    INFO(name);
    CHECK(files.count(name) == 1);
  }
  CHECK(files.count("libcurl.so.4") + files.count("libxml2.so.2") + files.count("libcrypto.so.3") == 0);
  CHECK(files.count("core.so") == 0);  // not opened: a folder is no library

  Stage in_folder;
  in_folder.script(failing("cuMemAlloc_v2", 2));
  CHECK(in_folder.run_traced({program("many_libraries"), folder}).status == 0);
  CHECK(files_of_modules(in_folder.journal()).count("core.so") == 1);
}

TEST_CASE("first failure: without one, libraries that no stack leads into are named once a context is made") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto folder = stage.folder() / "opened";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(program("small_library.so"), folder / "libtorch_cuda.so");
  stage.set("LD_PRELOAD", folder / "libtorch_cuda.so");
  CHECK(files_of_modules(journal_after(stage, {"start"})).count("libtorch_cuda.so") == 0);
  std::filesystem::remove_all(stage.journals());
  CHECK(files_of_modules(journal_after(stage, {"start", "make_context"})).count("libtorch_cuda.so") == 1);
}

TEST_CASE("first failure: hundreds of libraries of GPUs are all named") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuMemAlloc_v2", 2));
  const auto folder = stage.folder() / "opened";
  std::filesystem::create_directories(folder);
  for (int number = 0; number < 600; ++number)
    std::filesystem::copy_file(program("small_library.so"), folder / ("libtorch_" + std::to_string(number) + ".so"));
  CHECK(stage.run_traced({program("many_libraries"), folder}).status == 0);
  const auto files = files_of_modules(stage.journal());
  CHECK(std::count_if(files.begin(), files.end(), [](auto& file) { return file.starts_with("libtorch_"); }) == 600);
}
