// The helper and the program have no descriptor in common, whatever the program does with its own meanwhile.
#include "helper.hpp"

using namespace gpumem::test;

TEST_CASE("helper: it inherits no descriptor and no ignored signal where the kernel cannot close a range") {
  NEEDS(scripted_driver);
  Stage stage;
  const auto said = witnessed(run_host(with_witness(stage), "no_close_range"));
  CHECK(said.at("descriptors") == 0);
  CHECK(said.at("signals") == true);
}

TEST_CASE("helper: it needs no descriptor of a program that has none left") {
  NEEDS(scripted_driver);
  Stage stage;
  auto script = failing_start;
  script["rules"][0]["nth"] = 2;
  CHECK(witnessed(run_host(with_witness(stage).script(script), "no_descriptors")).at("descriptors") == 0);
}

TEST_CASE("helper: another thread may close and open descriptors and fork meanwhile, and meets none of the helper's") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script(failing_start).set("GPUMEM_PROBE", script_in(stage, "sleep 1; echo '{}'"));
  CHECK(witnessed(run_host(stage, "closing")) == Line::object());
}

TEST_CASE("helper: where descriptors cannot be closed it is not started, and what is the program's is not read") {
  NEEDS(scripted_driver);
  Stage stage;
  not_started(run_host(with_witness(stage), "useless_close_range"), "EBADF");
}
