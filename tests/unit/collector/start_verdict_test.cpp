#include "analyze/diagnosis.hpp"
#include "catch.hpp"

using namespace gpumem;

namespace {

struct FailedStart {
  ProcessRecord process;
  Modules all_modules;
  FailureGroup group;

  explicit FailedStart(std::int64_t code) {
    process.kernel_driver = "NVRM version: 580";
    group.first.api = "cuInit";
    group.first.tried = "init";
    group.first.start = true;
    group.first.code = code;
    group.count = 1;
  }
  Diagnosis why() const { return diagnose(group, {process, all_modules}); }
};

}  // namespace

TEST_CASE("out of memory at the start is never called a full GPU without a figure that shows it") {
  const FailedStart start(2);
  const auto why = start.why();
  CHECK(why.sureness == Certainty::open);
  CHECK(why.candidates.size() >= 2);
  CHECK_THAT(why.evidence.front(), ContainsSubstring("no figure of free device memory"));
  CHECK(why.verdict.find("full") == std::string::npos);
}

TEST_CASE("out of memory under an address-space limit names the limit") {
  FailedStart start(2);
  start.process.limit_as = 16ull << 30;
  CHECK(start.why().sureness == Certainty::likely);
  CHECK_THAT(start.why().evidence.front(), ContainsSubstring("RLIMIT_AS is 16.0 GiB"));
}

TEST_CASE("a forked child of a process that had started CUDA is told so") {
  FailedStart start(3);
  CHECK(start.why().sureness == Certainty::open);
  start.process.forked_from = ForkOrigin{42, "", 3, false};
  CHECK(start.why().sureness == Certainty::open);
  start.process.forked_from->initialized = true;
  CHECK(start.why().sureness == Certainty::proven);
  CHECK_THAT(start.why().verdict, ContainsSubstring("fork"));
}

TEST_CASE("no device: hidden by the environment, or no kernel driver") {
  FailedStart start(100);
  CHECK(start.why().sureness == Certainty::open);
  start.process.kernel_driver.reset();
  CHECK_THAT(start.why().verdict, ContainsSubstring("No NVIDIA kernel driver"));
  start.process.env["CUDA_VISIBLE_DEVICES"] = "";
  CHECK_THAT(start.why().verdict, ContainsSubstring("environment hides every GPU"));
  start.group.first.env_now["CUDA_VISIBLE_DEVICES"] = "0";
  CHECK_THAT(start.why().verdict, ContainsSubstring("No NVIDIA kernel driver"));
}

TEST_CASE("the driver's own answer decides, not what the runtime made of it") {
  FailedStart start(999);
  start.group.first.api = "cudaFree";
  start.group.first.in = "cuInit";
  start.group.first.in_code = 802;
  CHECK_THAT(start.why().candidates.front().cause, ContainsSubstring("fabric manager"));
}

TEST_CASE("numbers of runtimes before 10.1 are read in their own numbering") {
  FailedStart start(30);
  start.group.first.api = "cudaFree";
  CHECK_THAT(start.why().verdict, ContainsSubstring("30 is not known"));
  ModuleRecord runtime;
  runtime.role = "runtime";
  runtime.asks = 10000;
  start.all_modules[1] = runtime;
  CHECK_THAT(start.why().verdict, ContainsSubstring("unknown error"));
}

TEST_CASE("compatibility libraries are named by their path") {
  FailedStart start(804);
  ModuleRecord driver;
  driver.role = "driver";
  driver.path = "/usr/local/cuda/compat/libcuda.so.1";
  start.all_modules[1] = driver;
  CHECK(start.why().sureness == Certainty::proven);
  CHECK_THAT(start.why().evidence.front(), ContainsSubstring("/compat/libcuda.so.1"));
}

TEST_CASE("an unknown code is shown raw") { CHECK_THAT(FailedStart(4711).why().verdict, ContainsSubstring("4711")); }
