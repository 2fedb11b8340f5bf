// gpumem doctor: whether CUDA starts on the machine, told without a program that fails.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

Line told(const Outcome& outcome) { return Line::parse(outcome.out); }

std::string id_of(const Line& doctor) { return doctor["diagnosis"].is_null() ? "" : doctor["diagnosis"]["id"]; }

}  // namespace

TEST_CASE("doctor: a machine on which CUDA starts") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script({{"devices", {Line::object(), Line::object()}}});
  const auto outcome = stage.gpumem({"doctor", "--format", "json"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  const auto doctor = told(outcome);
  CHECK(doctor["starts"] == true);
  CHECK(doctor["attempt"]["devices"].size() == 2);
  CHECK(stage.gpumem({"doctor"}).out.find("CUDA starts here.") == 0);
}

TEST_CASE("doctor: a full device is told with who fills it, and where there is room") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script({{"devices",
                 {{{"capacity", 16ull << 30},
                   {"other_processes", {{{"pid", 1}, {"name", "hog"}, {"used_bytes", (16ull << 30) - (100 << 20)}}}}},
                  Line::object()}}});
  const auto outcome = stage.gpumem({"doctor", "--format", "json"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  const auto doctor = told(outcome);
  CHECK(id_of(doctor) == "memory_held");
  CHECK(doctor["attempt"]["code"] == 2);
  CHECK(doctor["attempt"]["device"] == 0);
  const std::string advice = doctor["diagnosis"]["advice"].dump();
  CHECK(advice.find("CUDA_VISIBLE_DEVICES=") != std::string::npos);
}

TEST_CASE("doctor: codes of a failed start are diagnosed as those of a program") {
  NEEDS(scripted_driver);
  for (const int code : {3, 46, 100, 802, 805, 999, 4711}) {
    Stage stage;
    stage.script({{"rules", {{{"call", "cuInit"}, {"code", code}}}}});
    const auto outcome = stage.gpumem({"doctor", "--format", "json"});
    INFO(code << outcome.out << outcome.err);
    CHECK(outcome.status == 1);
    CHECK(told(outcome)["attempt"]["code"] == code);
    CHECK(told(outcome)["attempt"]["call"] == "cuInit");
  }
}

TEST_CASE("doctor: a start that hangs is told as such, after the deadline") {
  NEEDS(scripted_driver);
  Stage stage;
  stage.script({{"rules", {{{"call", "cuInit"}, {"delay_ms", 60000}}}}});
  const auto outcome = stage.gpumem({"doctor", "--deadline", "300"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("cuInit did not return") != std::string::npos);
}

TEST_CASE("doctor: no driver library at all") {
  Stage stage(Cuda::none);
  const auto outcome = stage.gpumem({"doctor", "--format", "json"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(told(outcome)["attempt"]["status"] == "absent");
  CHECK(id_of(told(outcome)) == "no_driver_library");
}
