// Several runtimes, one inside the program or none at all: each call is recorded once, and goes where it would go
// without the shim.
#include <map>

#include "genuine.hpp"

using namespace gpumem::test;

namespace {

using Argv = std::vector<std::string>;

std::string library(const std::string& name) { return program(name + ".so"); }

// Path of each module that has a role, to the highest version that it asked the driver for.
std::map<std::string, int> runtimes_of(const Journal& journal) {
  std::map<std::string, int> found;
  for (const auto& module : journal.of_type("module"))
    if (module.at("role") == "runtime") found[module.at("path")] = module.value("asks", 0);
  return found;
}

void check_both(const Stage& stage, const Argv& argv) {
  const auto bare = stage.run_bare(argv);
  INFO(bare);
  CHECK(bare.status == 0);
  CHECK(bare.out.find("the second fails: 2\nlast error of the first: 0\nlast error of the second: 2\n") !=
        std::string::npos);
  CHECK(stage.run_traced(argv) == bare);
  const auto journal = stage.journal();
  for (const int bytes : {12007, 13007}) {
    REQUIRE(journal.allocations_of(bytes).size() == 1);
    CHECK(journal.allocations_of(bytes)[0].at("api") == "cudaMalloc");
    CHECK(journal.allocations_of(bytes)[0].at("in") == "cuMemAlloc_v2");
  }
  CHECK(journal.allocations().size() == 2);
  CHECK(journal.events("free").size() == 2);
  CHECK(journal.failures().size() == 2);
  const auto runtimes = runtimes_of(journal);
  REQUIRE(runtimes.size() == 2);
  CHECK(runtimes.begin()->first.find("libcudart.so.12") != std::string::npos);
  CHECK(runtimes.begin()->second / 1000 == 12);
  CHECK(runtimes.rbegin()->first.find("libcudart.so.13") != std::string::npos);
  CHECK(runtimes.rbegin()->second / 1000 == 13);
}

}  // namespace

TEST_CASE("two runtimes: libraries that are linked with two majors") {
  NEEDS(scripted_driver);
  const auto first = library("linked_with_12"), second = library("linked_with_13");
  for (const Argv& files : {Argv{first, second}, Argv{second, first}}) {
    Stage stage;
    const bool in_order = files[0] == first;
    const Argv argv = {program("two_runtimes"), "linked", files[0], files[1]};
    CHECK(stage.run_bare(argv).out.find(in_order ? "version: 0 12090\ntakes 12007" : "version: 0 13000\ntakes 12007") ==
          0);
    check_both(stage, argv);
  }
}

TEST_CASE("two runtimes: two majors that a program opened itself") {
  NEEDS(scripted_driver);
  Stage stage;
  check_both(stage, {program("two_runtimes"), "looked_up", "libcudart.so.12", "libcudart.so.13"});
}

TEST_CASE("two runtimes: two genuine majors, which cannot start") {
  NEEDS(scripted_driver);
  const auto first = genuine_runtime("12"), second = genuine_runtime("13.0");
  NEEDS_PART(missing({first, second}));
  for (const Argv& argv :
       {Argv{program("two_runtimes"), "looked_up", first.file, second.file},
        Argv{program("two_runtimes"), "linked", library("linked_with_12"), library("linked_with_13")}}) {
    Stage stage(Cuda::genuine_runtime_over_simulated_driver);
    stage.set("LD_LIBRARY_PATH",
              first.file.parent_path().string() + ":" + stage.bare_environment().at("LD_LIBRARY_PATH"));
    stage.script({{"rules", {{{"call", "cuInit"}, {"code", 999}}}}});
    const auto bare = stage.run_bare(argv);
    INFO(bare);
    CHECK(bare.out.find("version: 0 12090\ntakes 12007: 999\n") == 0);
    CHECK(bare.out.find("version: 0 13000\ntakes 13007: 999\n") != std::string::npos);
    CHECK(stage.run_traced(argv) == bare);
    const auto journal = stage.journal();
    // Each runtime's two allocations and one free, none of them twice.
    std::map<std::string, int> failures;
    for (const auto& failure : journal.failures()) ++failures[failure.at("api")];
    CHECK(failures == std::map<std::string, int>{{"cudaMalloc", 4}, {"cudaFree", 2}});
    CHECK(journal.allocations().empty());
    CHECK(runtimes_of(journal).size() == 2);
  }
}

TEST_CASE("two runtimes: one inside the program gives the totals of a shared one") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  std::map<std::string, Journal> journals;
  for (const std::string kind : {"shared", "static"}) {
    Stage stage;
    const auto bare = stage.run_bare({program("allocates_" + kind)});
    CHECK(bare.status == 0);
    CHECK(stage.run_traced({program("allocates_" + kind)}) == bare);
    journals.emplace(kind, stage.journal());
  }
  const auto &shared = journals.at("shared"), &inside = journals.at("static");
  CHECK(inside.allocations().size() == 8);
  for (const auto& allocation : shared.allocations()) CHECK(allocation.at("api").get<std::string>().find("cuda") == 0);
  for (const auto& allocation : inside.allocations()) CHECK(allocation.at("api").get<std::string>().find("cuMem") == 0);
  for (const char* operation : {"alloc", "free"})
    CHECK(inside.events(operation).size() == shared.events(operation).size());
  for (const char* kind : {"device", "managed", "pinned", "async"}) {
    INFO(kind);
    CHECK(inside.allocations(kind).size() == 2);
    CHECK(inside.peak(kind) == shared.peak(kind));
  }
  CHECK(inside.failures().size() == shared.failures().size());
  CHECK(inside.live_at_end().size() == 1);
  CHECK(shared.live_at_end().size() == 1);
  CHECK(inside.of_type("end").at(0).at("peaks") == shared.of_type("end").at(0).at("peaks"));
  bool named = false;
  for (const auto& module : inside.of_type("module")) named |= module.at("role") == "static_runtime";
  CHECK(named);
}

TEST_CASE("two runtimes: a library whose names only begin like CUDA's is nobody's business") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto bare = stage.run_bare({program("uses_cudnn")});
  INFO(bare);
  CHECK(bare.status == 0);
  CHECK(bare.out.find("of the library: same ") != std::string::npos);
  CHECK(bare.out.find("of the driver: other nowhere") != std::string::npos);
  CHECK(stage.run_traced({program("uses_cudnn")}) == bare);
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(10007).size() == 1);
  const auto end = journal.of_type("end").at(0);
  CHECK(end.at("routes").at("unrecognised") == 0);
  for (const auto& [name, calls] : end.at("calls").items()) CHECK(name.find("cudnn") == std::string::npos);
  for (const auto& module : journal.of_type("module"))
    if (module.at("path").get<std::string>().find("libcudnn") != std::string::npos) CHECK(module.at("role").is_null());
}
