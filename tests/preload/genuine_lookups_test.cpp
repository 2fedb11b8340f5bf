// How a genuine runtime finds the driver's functions, and that none of its look-ups escapes the shim.
#include <algorithm>

#include "genuine.hpp"

using namespace gpumem::test;

namespace {

Line end_of(const Stage& stage) { return stage.journal().of_type("end").at(0); }

// What the simulated driver itself saw of a program without the shim.
int look_ups_seen_by_driver(const std::vector<std::string>& argv) {
  Stage stage;
  const auto trace = stage.folder() / "trace";
  stage.script({{"rules", {{{"call", "cuInit"}, {"code", 100}}}}}).set("SIMCUDA_TRACE", trace);
  stage.run_bare(argv);
  const auto text = read_text(trace);
  int seen = 0;
  for (std::size_t at = 0; (at = text.find("lookup ", at)) != std::string::npos; ++at) ++seen;
  return seen;
}

void all_look_ups_of_static_runtime(const std::string& driver) {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  NEEDS_PART(missing_driver(driver));
  const std::vector<std::string> argv = {program("start_static")};
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", genuine_driver(driver));
  CHECK(stage.run_traced(argv) == stage.run_bare(argv));
  const int seen = end_of(stage).at("calls").at("cuGetProcAddress_v2");
  CHECK(seen == look_ups_seen_by_driver(argv));
  CHECK(seen > 400);
  CHECK(end_of(stage).at("routes").at("unrecognised") == 0);
}

// The probe for a resolver fails, so every function is looked up by dlsym.
Line refusing_resolver(const char* resolver) {
  return {{"driver_version", 14000},
          {"rules", {{{"call", resolver}, {"code", 34}}, {{"call", "cuInit"}, {"code", 100}}}}};
}

Line failure_through(Stage& stage, const std::vector<std::string>& argv) {
  const auto bare = stage.run_bare(argv);
  CHECK(bare.out == "100 no CUDA-capable device is detected\n");
  CHECK(stage.run_traced(argv) == bare);
  const auto failures = stage.journal().failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("code") == 100);
  CHECK(end_of(stage).at("calls").at("cuInit") == 1);
  return failures[0];
}

}  // namespace

TEST_CASE("genuine look-ups: all of a static cudart are seen over driver 550") {
  all_look_ups_of_static_runtime("550");
}
TEST_CASE("genuine look-ups: all of a static cudart are seen over driver 535") {
  all_look_ups_of_static_runtime("535");
}

TEST_CASE("genuine look-ups: a static cudart falls back to dlsym where the resolver's probe answers 34") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage by_resolver, by_dlsym;
  by_resolver.script({{"rules", {{{"call", "cuInit"}, {"code", 100}}}}});
  failure_through(by_resolver, {program("start_static")});
  by_dlsym.script(refusing_resolver("cuGetProcAddress_v2"));
  failure_through(by_dlsym, {program("start_static")});
  const auto usual = end_of(by_resolver).at("routes"), fallback = end_of(by_dlsym).at("routes");
  CHECK(end_of(by_dlsym).at("calls").at("cuGetProcAddress_v2") == 1);
  CHECK(fallback.at("resolver") == 0);
  CHECK(fallback.at("dlsym") == usual.at("dlsym").get<int>() + usual.at("resolver").get<int>());
  CHECK(fallback.at("unrecognised") == 0);
}

TEST_CASE("genuine look-ups: shared runtimes fall back to dlsym where the resolver's probe answers 34") {
  NEEDS(scripted_driver);
  const auto runtimes = genuine_runtimes({"11.8", "12", "13.0"});
  NEEDS_PART(missing(runtimes));
  for (const auto& runtime : runtimes) {
    INFO("cudart " << runtime.version);
    Stage stage;
    stage.script(refusing_resolver(runtime.version == "11.8" ? "cuGetProcAddress" : "cuGetProcAddress_v2"));
    const auto failure = failure_through(stage, {program("start_runtime"), runtime.file});
    CHECK(failure.at("in") == "cuInit");
    CHECK(end_of(stage).at("routes").at("resolver") == 0);
    CHECK(end_of(stage).at("routes").at("dlsym").get<int>() > 15);
  }
}

TEST_CASE("genuine look-ups: runtimes fall back to dlsym on a driver without a resolver") {
  const auto runtimes = genuine_runtimes({"11.2", "11.8", "12", "13.0", "13.5"});
  NEEDS_PART(missing(runtimes));
  for (const auto& runtime : runtimes) {
    INFO("cudart " << runtime.version);
    Stage stage(Cuda::none);
    stage.set("LD_LIBRARY_PATH", program("resolver_less_driver")).set("RESOLVER_LESS_DRIVER_VERSION", "14000");
    const auto failure = failure_through(stage, {program("start_runtime"), runtime.file});
    CHECK(failure.at("api") == "cudaFree");
    CHECK(failure.at("in") == "cuInit");
  }
}

TEST_CASE("genuine look-ups: a static cudart falls back to dlsym on a driver without a resolver") {
  NEEDS(nvcc);
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", program("resolver_less_driver"));
  CHECK(failure_through(stage, {program("start_static")}).at("api") == "cuInit");
}
