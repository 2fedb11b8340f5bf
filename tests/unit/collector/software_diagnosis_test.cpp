// Driver, runtime and code that do not fit together.
#include "catch.hpp"
#include "failed_call.hpp"

using namespace gpumem;

TEST_CASE("numbers of runtimes before 10.1 are read in their own numbering") {
  auto call = FailedCall::start(30);
  call.group.first.api = "cudaFree";
  CHECK_THAT(call.why().verdict, ContainsSubstring("30 is not known"));
  call.add_module("/opt/libcudart.so.10.0", "runtime").asks = 10000;
  CHECK_THAT(call.why().verdict, ContainsSubstring("unknown error"));
}

TEST_CASE("a newer runtime than the driver: versions, needs, and other copies") {
  auto call = FailedCall::start(35);
  call.add_module("/env/lib/libcudart.so.12", "runtime").asks = 12090;
  call.add_module("/usr/lib/libcuda.so.1", "driver");
  call.machine["system"]["libraries"] = {{{"path", "/usr/local/cuda/lib64/libcudart.so.11.0"}}};
  const auto why = call.why();
  CHECK(why.id == "driver_too_old");
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("needs driver 525.60.13 or newer"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("another runtime lies at /usr/local/cuda"));
}

TEST_CASE("no driver library, because the container was not given it") {
  auto call = FailedCall::start(35);
  CHECK(call.why().id == "no_driver_library");
  call.process.process.env["NVIDIA_DRIVER_CAPABILITIES"] = "utility";
  CHECK(call.why().sureness == Certainty::proven);
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("compute,utility"));
}

TEST_CASE("compatibility libraries are named by their path") {
  auto call = FailedCall::start(804);
  call.add_module("/usr/local/cuda/compat/libcuda.so.1", "driver");
  CHECK(call.why().id == "compat_driver");
  CHECK(call.why().sureness == Certainty::proven);
  CHECK_THAT(call.why().evidence.front().text, ContainsSubstring("/compat/libcuda.so.1"));
}

TEST_CASE("driver library and kernel driver of different versions") {
  auto call = FailedCall::start(803);
  call.add_module("/usr/lib/libcuda.so.550.163.01", "driver");
  CHECK(call.why().id == "driver_mismatch");
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("kernel driver is 580.65.06"));
  call.process.all_modules.begin()->second.path = "/usr/lib/libcuda.so.580.65.06";
  CHECK(is_ruled_out(call.why(), "driver_mismatch"));
}

TEST_CASE("code that the device cannot load: the device's generation, and whose code it is") {
  auto call = FailedCall::start(209);
  call.group.first.device = 0;
  call.process.devices[0].capability = "5.0";
  call.add_module("/usr/lib/libcudart.so.12", "runtime");
  call.add_module("/env/libtensorflow_framework.so.2");
  call.group.first.stack = 1;
  call.process.stacks[1].frames = {{1, 5}, {2, 7}};
  const auto why = call.why();
  CHECK(why.id == "no_code_for_device");
  CHECK_THAT(why.verdict, ContainsSubstring("No memory problem"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("compute capability 5.0"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("libtensorflow_framework.so.2"));
}

TEST_CASE("a compatibility libcuda is meant to differ from the kernel driver") {
  auto call = FailedCall::start(2);
  call.add_gpu(15000);
  call.add_module("/usr/local/cuda/compat/libcuda.so.590.10", "driver");
  CHECK(call.why().sureness == Certainty::open);
}
