// Variables that the program has changed since it was started: a driver reads them when it starts.
#include "first_failures.hpp"

using namespace gpumem::test;

TEST_CASE("changed variables: told with the start of the driver, and with every failure") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuMemFree_v2", 1)).set("CUDA_VISIBLE_DEVICES", "0").set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  const auto journal = journal_after(
      stage, {"change_devices", "start", "make_context", "allocate", "forget_order", "free_nothing", "free_nothing"});
  CHECK(init_of_driver(journal).at("env_now") == Line({{"CUDA_VISIBLE_DEVICES", "0,1,7"}}));
  CHECK_FALSE(journal.events("context").at(0).contains("env_now"));
  REQUIRE(journal.failures().size() == 2);
  for (const auto& failure : journal.failures()) {
    CHECK(failure.at("env_now") == Line({{"CUDA_VISIBLE_DEVICES", "0,1,7"}, {"CUDA_DEVICE_ORDER", nullptr}}));
    CHECK_FALSE(failure.contains("env_left_out"));
  }
}

TEST_CASE("changed variables: told where the driver starts inside a call of the runtime") {
  NEEDS(scripted_driver);
  NEEDS(genuine_runtime);
  Stage stage(Cuda::genuine_runtime_over_simulated_driver);
  stage.run_traced({program("start_shared"), "CUDA_VISIBLE_DEVICES", "0"});
  const auto init = init_of_driver(stage.journal());
  CHECK(init.at("in") == "cuInit");
  CHECK(init.at("api") == "cudaFree");
  CHECK(init.at("env_now") == Line({{"CUDA_VISIBLE_DEVICES", "0"}}));
}

TEST_CASE("changed variables: none, no key") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuMemFree_v2", 1));
  const auto journal = journal_after(stage, {"start", "make_context", "free_nothing"});
  CHECK_FALSE(init_of_driver(journal).contains("env_now"));
  CHECK_FALSE(journal.failures().at(0).contains("env_now"));
}

TEST_CASE("changed variables: one that is too long costs no line, and is named") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuMemFree_v2", 1));
  const auto journal =
      journal_after(stage, {"change_devices", "set_long_path", "start", "make_context", "free_nothing"});
  for (const auto& line : {init_of_driver(journal), journal.failures().at(0)}) {
    CHECK(line.at("env_now") == Line({{"CUDA_VISIBLE_DEVICES", "0,1,7"}}));
    CHECK(line.at("env_left_out") == Line({"LD_LIBRARY_PATH"}));
  }
  CHECK(journal.of_type("end").at(0).at("lost").at("lines") == 0);
}

TEST_CASE("changed variables: one that lies beyond what is kept of a vast environment is not taken for changed") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script(failing("cuInit", 999)).set("CUDA_VISIBLE_DEVICES", "0");
  // Variables are handed over in the order of their names.
  stage.set("A_FIRST", std::string(100 << 10, 'a')).set("A_SECOND", std::string(100 << 10, 'b'));
  const auto journal = journal_after(stage, {"start"});
  CHECK_FALSE(journal.process().at("env").contains("CUDA_VISIBLE_DEVICES"));
  CHECK_FALSE(journal.failures().at(0).contains("env_now"));
}
