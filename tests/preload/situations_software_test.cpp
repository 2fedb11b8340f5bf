// CUDA does not start, or loads no code, because driver, runtime, kernel driver and code do not fit together.
#include "genuine.hpp"
#include "situations.hpp"

using namespace gpumem::test;

TEST_CASE("situations: a forward-compatibility libcuda is found before the driver's own") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const auto& [code, certainty] : {std::pair<int, const char*>{804, "proven"}, {803, "likely"}}) {
    Stage stage;
    stage.script(failing_start(code));
    move_driver_to(stage, "compat", "libcuda.so.580.65.06");
    check_cause(first_failure(stage, situation({"start"})), "compat_driver", certainty,
                {(stage.folder() / "compat/libcuda.so.1").string()});
  }
}

TEST_CASE("situations: a runtime newer than the driver") {
  NEEDS(scripted_driver);
  const auto runtime = genuine_runtime("13.0");
  NEEDS_PART(missing(runtime));
  for (const std::filesystem::path& file : {runtime.file, simulated_folder() / "libcudart.so.13"}) {
    INFO(file);
    Stage stage;
    stage.script({{"driver_version", 11040}, {"nvml_driver_version", "470.57.02"}});
    check_cause(first_failure(stage, {program("start_runtime"), file}), "driver_too_old", "proven",
                {"cudart 13.0 (" + file.string() + ")", "580.65.06 or newer", "470.57.02, for CUDA 11.4"});
  }
}

TEST_CASE("situations: no driver library, and the toolkit's stub in its place") {
  NEEDS(genuine_runtime);
  const std::vector<std::string> start{program("start_runtime"), genuine_runtime("13.0").file};
  Stage without(Cuda::none), stub(Cuda::none);
  check_cause(first_failure(without, start), "no_driver_library", "likely");
  const auto folder = stub.folder() / "stubs";
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(toolkit_folder() / "lib64/stubs/libcuda.so", folder / "libcuda.so.1");
  stub.set("LD_LIBRARY_PATH", folder);
  check_cause(first_failure(stub, start), "stub_driver", "proven", {folder.string()});
}

TEST_CASE("situations: code that the device cannot load, at the start, at loading and at the launch") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  struct Case {
    const char* call;
    int code;
    const char *id, *certainty;
  };
  for (const auto& each : {Case{"cuDevicePrimaryCtxRetain", 200, "no_code_for_device", "likely"},
                           {"cuModuleLoadData", 200, "no_code_for_device", "likely"},
                           {"cuModuleLoadData", 209, "no_code_for_device", "proven"},
                           {"cuLaunchKernel", 98, "no_code_for_device", "proven"},
                           {"cuLaunchKernel", 209, "no_code_for_device", "proven"},
                           {"cuModuleLoadData", 218, "ptx_too_new", "proven"},
                           {"cuModuleLoadData", 222, "ptx_too_new", "proven"},
                           {"cuModuleLoadData", 221, "no_jit_compiler", "proven"}}) {
    INFO(each.call << " answers " << each.code);
    Stage stage;
    stage.script({{"devices", {{{"compute_capability", {5, 0}}}}}, {"rules", {rule(each.call, each.code)}}});
    const auto failure = first_failure(stage, situation({"start", "retain", "load", "launch"}));
    check_cause(failure, each.id, each.certainty);
    if (std::string(each.id) != "no_jit_compiler")
      CHECK_THAT(words_of(failure), ContainsSubstring("compute capability 5.0"));
    if (std::string(each.id) == "no_code_for_device")
      CHECK_THAT(words_of(failure), ContainsSubstring("tests/programs/situation"));
  }
}

TEST_CASE("situations: NVML says that library and kernel driver are of different versions") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const int code : {2, 100, 803, 999}) {
    INFO(code);
    Stage stage;
    stage.script({{"rules", {rule("cuInit", code), rule("nvmlInit_v2", 18)}}});
    check_cause(first_failure(stage, situation({"start"})), "driver_mismatch", "proven", {"different versions"});
  }
}

TEST_CASE("situations: NVIDIA's own driver library on a machine without its kernel driver") {
  NEEDS(nvcc);
  NEEDS_PART(missing_driver("550"));
  if (std::filesystem::exists("/proc/driver/nvidia/version")) return skipped("a kernel driver is loaded");
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", genuine_driver("550"));
  check_cause(first_failure(stage, situation({"start"})), "no_kernel_driver", "proven",
              {"/proc/driver/nvidia/version does not exist", "driver not loaded"});
}

namespace {

// Of a program that was run before with success, and now fails to load its code.
Line failure_of_engine(Stage& stage, const std::string& build, const std::string& preloaded) {
  stage.script({{"rules", {rule("cuModuleLoadData", 209)}}});
  auto environment = stage.traced_environment();
  environment["LD_PRELOAD"] += ":" + preloaded;
  const auto outcome = stage.run({{program("runs_engine"), program(build + "/engine.so")}, environment});
  INFO(outcome);
  CHECK(outcome.out == "209\n");
  return first_failure_in(process_in(processes_of(stage), outcome.pid));
}

}  // namespace

TEST_CASE("situations: two builds of a library in one image, and only with one of them CUDA starts") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  // Which no stack leads into.
  const auto collectives = stage.folder() / "libnccl.so.2", blas = stage.folder() / "libcublas.so.13";
  for (const auto& file : {collectives, blas}) std::filesystem::copy_file(program("small_library.so"), file);
  auto environment = stage.traced_environment();
  environment["LD_PRELOAD"] += ":" + collectives.string();
  const auto good = stage.run({{program("runs_engine"), program("wheel/engine.so")}, environment});
  INFO(good);
  CHECK(good.out == "0\n");
  const auto failure = failure_of_engine(stage, "download", blas);
  check_cause(failure, "no_code_for_device", "proven",
              {"process " + std::to_string(good.pid) + " (`runs_engine ",
               "`), which did start CUDA, had " + program("wheel/engine.so") + " (build ",
               ", and this one " + program("download/engine.so") + " (build ",
               "it had not loaded " + blas.string() + " (build ", "it had " + collectives.string() + " (build ",
               "which this one had not loaded when it failed"});
  CHECK(words_of(failure).find("libc.so") == std::string::npos);
}

TEST_CASE("situations: the libraries are the same in a process that fails and in one that does not") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto good = stage.run_traced({program("runs_engine"), program("wheel/engine.so")});
  const auto words = words_of(failure_of_engine(stage, "wheel", ""));
  CHECK_THAT(words, ContainsSubstring("which did start CUDA, had the same GPU libraries"));
}
