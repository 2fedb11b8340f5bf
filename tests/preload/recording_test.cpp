// What a runtime program did is in its journal, once, with the right names and numbers.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

constexpr std::uint64_t weights = 1000003, activation = 2000003, impossible = (1ull << 50) + 17;

Journal trained(Stage& stage) {
  const auto outcome = stage.run_traced({program("training_shared")});
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  return stage.journal();
}

}  // namespace

TEST_CASE("recording: the journal of a runtime program says who wrote it") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  const auto& process = journal.process();
  CHECK(process.at("t") == "process");
  CHECK(process.at("schema") == 1);
  CHECK(process.at("exe") == program("training_shared"));
  CHECK(process.at("argv") == Line::array({program("training_shared")}));
  CHECK(process.at("forked_from").is_null());
  CHECK(process.at("shim").at("build_id").get<std::string>().size() >= 16);
  CHECK(journal.torn == 0);
  CHECK(journal.has_end());
  for (const auto& line : journal.lines) {
    INFO(line);
    CHECK(line.contains("t"));
    CHECK(line.at("ns").get<std::int64_t>() >= 0);
    CHECK(line.at("tid").get<std::int64_t>() > 0);
    CHECK(line.dump().size() < (line.at("t") == "event" ? 300u : 65536u));
  }
}

TEST_CASE("recording: every allocation of a runtime program is recorded once, with both names") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  REQUIRE(journal.allocations_of(weights).size() == 1);
  CHECK(journal.allocations_of(activation).size() == 2 + 7 + 3);
  const auto block = journal.allocations_of(weights)[0];
  CHECK(block.at("api") == "cudaMalloc");
  CHECK(block.at("in") == "cuMemAlloc_v2");
  CHECK(block.at("k") == "device");
  CHECK(block.at("d") == 0);

  struct Expected {
    std::uint64_t bytes;
    const char *api, *kind;
  };
  for (const auto& [bytes, api, kind] :
       {Expected{30011, "cudaMallocHost", "pinned"}, Expected{40009, "cudaHostAlloc", "pinned"},
        Expected{50021, "cudaMallocManaged", "managed"}, Expected{60013, "cudaMallocAsync", "async"}}) {
    INFO(bytes);
    const auto found = journal.allocations_of(bytes);
    REQUIRE(found.size() == 1);
    CHECK(found[0].at("api") == api);
    CHECK(found[0].at("k") == kind);
  }
}

TEST_CASE("recording: a free carries the number of its block, and what was never freed is live at the end") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  const auto frees = journal.events("free");
  CHECK(frees.size() == 12 + 4);
  for (const auto& line : frees) CHECK(line.contains("i"));
  auto live = journal.live_at_end();
  std::erase_if(live, [](const Line& line) { return line.at("k") == "library" || line.at("k") == "module"; });
  REQUIRE(live.size() == 1);
  CHECK(live[0].at("n") == weights);
}

TEST_CASE("recording: the peak is exact") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  CHECK(journal.peak("device") == weights + 7 * activation);
  const auto peaks = journal.of_type("end").at(0).at("peaks");
  bool said = false;
  for (const auto& peak : peaks)
    if (peak.at("k") == "device") said = peak.at("bytes") == weights + 7 * activation;
  CHECK(said);
}

TEST_CASE("recording: a request that cannot be met is a failure with its size, not an allocation") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  CHECK(journal.allocations_of(impossible).empty());
  const auto failures = journal.failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("tried") == "alloc");
  CHECK(failures[0].at("api") == "cudaMalloc");
  CHECK(failures[0].at("in") == "cuMemAlloc_v2");
  CHECK(failures[0].at("n") == impossible);
  CHECK(failures[0].at("code") == 2);
  CHECK(failures[0].at("name") == "cudaErrorMemoryAllocation");
  CHECK(failures[0].at("in_name") == "CUDA_ERROR_OUT_OF_MEMORY");
  CHECK(failures[0].at("first") == true);
  CHECK_FALSE(failures[0].value("start", false));
  CHECK(failures[0].at("u") == weights);

  bool sampled = false;
  for (const auto& sample : journal.of_type("sample")) sampled |= sample.at("why") == "failure";
  CHECK(sampled);
}

TEST_CASE("recording: a stack leads from the call to main, through the program's own functions") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  const auto stack = journal.allocations_of(weights)[0].at("s").get<std::uint64_t>();
  REQUIRE(stack > 0);
  const auto modules = journal.modules_of_stack(stack);
  REQUIRE(modules.size() >= 3);
  CHECK(modules[0] == program("training_shared"));
  CHECK(modules[1] == program("training_shared"));
}

TEST_CASE("recording: no stack shows the shim's own frames, not even between the runtime and the driver") {
  NEEDS(driver);
  NEEDS(runtime);
  Stage stage;
  const auto journal = trained(stage);
  for (const auto& stack : journal.of_type("stack")) {
    INFO(stack);
    for (const auto& module : journal.modules_of_stack(stack.at("id"))) CHECK(module != shim());
  }
}

TEST_CASE("recording: a context takes its device and managed blocks with it") {
  NEEDS(driver);
  Stage stage;
  stage.run_traced({program("conformance_driver"), "careful"});
  const auto journal = stage.journal();
  const auto block = journal.allocations_of(5003);
  REQUIRE(block.size() == 1);
  bool ended = false;
  for (const auto& line : journal.events("context_end"))
    if (line.at("c") == block[0].at("c")) ended = line.at("blocks") == 1 && line.at("bytes") == 5003;
  CHECK(ended);
  for (const auto& line : journal.live_at_end()) CHECK(line.value("n", 0) != 5003);
}

TEST_CASE("recording: a block that is freed twice fails the second time and is not counted twice") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.run_traced({program("route_lookup"), "dlsym"});
  const auto journal = stage.journal();
  const auto block = journal.allocations_of(20011).at(0);
  int freed = 0, failed = 0;
  for (const auto& line : journal.events("free")) freed += line.value("i", Line()) == block.at("i");
  for (const auto& line : journal.failures()) failed += line.at("tried") == "free";
  CHECK(freed == 1);
  CHECK(failed == 1);
}
