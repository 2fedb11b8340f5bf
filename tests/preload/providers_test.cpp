// The same test bodies over every CUDA that there is.
#include "provider.hpp"

using namespace gpumem::test;

namespace {

using Argv = std::vector<std::string>;

Outcome unnoticed(Stage& stage, const Argv& argv) {
  const auto bare = stage.run_bare(argv);
  const auto traced = stage.run_traced(argv);
  INFO(traced);
  CHECK(traced == bare);
  CHECK(bare.status < 2);  // greater: the program could not open the library, and tried nothing
  return traced;
}

void check_failed_start(const Journal& journal, int code) {
  REQUIRE_FALSE(journal.failures().empty());
  const auto first = journal.failures()[0];
  CHECK(first.at("tried") == "init");
  CHECK(first.at("start") == true);
  CHECK(first.at("code") == code);
}

// Newer runtimes refuse the genuine drivers before they ask for a device.
int code_without_device(const Provider& provider) { return provider.runtime_version >= "13" ? 35 : 100; }

}  // namespace

OVER_EACH(drivers, "routes: look-ups of every kind are seen") {
  for (const char* route : {"dlsym", "resolver", "resolver_v2", "resolver_from_resolver"}) {
    INFO(route);
    Stage stage(Cuda::none);
    provider.put_under(stage);
    unnoticed(stage, {program("route_lookup"), route});
    const auto journal = stage.journal();
    const auto counts = journal.of_type("end").at(0).at("routes");
    CHECK(counts.at(route == std::string("dlsym") ? "dlsym" : "resolver").get<int>() >= 8);
    CHECK(counts.at("unrecognised") == 0);
    if (!provider.allocates()) {
      check_failed_start(journal, 100);
      continue;
    }
    CHECK(journal.events("free").size() == 3);
    REQUIRE(journal.live_at_end().size() == 1);
    CHECK(journal.live_at_end()[0].at("n") == 10007);
  }
}

OVER_EACH(drivers, "transparency: every driver function") {
  Stage stage(Cuda::none);
  provider.put_under(stage);
  unnoticed(stage, {program("conformance_driver"), "careful"});
}

OVER_EACH(runtimes, "transparency: every runtime function") {
  Stage stage(Cuda::none);
  provider.put_under(stage);
  unnoticed(stage, {program("conformance_runtime"), provider.runtime_file(), "careful"});
}

OVER_EACH(runtimes, "recording: a session's allocations and what is left of them") {
  Stage stage(Cuda::none);
  provider.put_under(stage);
  unnoticed(stage, {program("runtime_session"), provider.runtime_file()});
  const auto journal = stage.journal();
  if (!provider.allocates()) {
    CHECK(journal.events("alloc").empty());
    CHECK_FALSE(journal.failures().empty());
    return;
  }
  struct Expected {
    std::uint64_t bytes;
    const char *api, *in, *kind;
  };
  for (const auto& [bytes, api, in, kind] : {Expected{10007, "cudaMalloc", "cuMemAlloc_v2", "device"},
                                             Expected{20011, "cudaMalloc", "cuMemAlloc_v2", "device"},
                                             Expected{30011, "cudaMallocManaged", "cuMemAllocManaged", "managed"},
                                             Expected{40009, "cudaMallocHost", "cuMemHostAlloc", "pinned"},
                                             Expected{50021, "cudaMallocAsync", "cuMemAllocAsync", "async"}}) {
    INFO(bytes);
    const auto found = journal.allocations_of(bytes);
    REQUIRE(found.size() == 1);
    CHECK(found[0].at("api") == api);
    CHECK(found[0].at("in") == in);
    CHECK(found[0].at("k") == kind);
  }
  CHECK(journal.failures().size() == 1);
  REQUIRE(journal.live_at_end().size() == 1);
  CHECK(journal.live_at_end()[0].at("n") == 10007);
}

OVER_EACH(runtimes, "failed start: the program hears what it always hears, and the journal holds it") {
  Stage stage(Cuda::none);
  provider.put_under(stage);
  int code = code_without_device(provider);
  if (provider.driver == Provider::Driver::simulated) {
    code = 802;
    stage.script({{"driver_version", 14000}, {"rules", {{{"call", "cuInit"}, {"code", code}}}}});
  } else if (provider.driver == Provider::Driver::gpu) {
    code = 100;
    stage.set("CUDA_VISIBLE_DEVICES", "-1");
  }
  const auto outcome = unnoticed(stage, {program("start_runtime"), provider.runtime_file()});
  CHECK(outcome.out.find(std::to_string(code) + " ") == 0);
  const auto journal = stage.journal();
  check_failed_start(journal, code);
  CHECK(journal.failures().size() == 1);
  CHECK(journal.failures()[0].at("api") == "cudaFree");
  CHECK(failures_in_one_line(stage).find("start_training") != std::string::npos);
}
