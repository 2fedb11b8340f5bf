// What lies on the program's library path may not be for the helper.
#include <algorithm>

#include "helper.hpp"

using namespace gpumem::test;

namespace {

// Of a failed start whose program finds this text as a library that gpumem needs.
Line probe_beside_library(const std::string& name, const std::string& text) {
  Stage stage;
  stage.script(failing_start);
  const auto folder = stage.folder() / "libraries";
  std::filesystem::create_directory(folder);
  write_text(folder / name, text);
  stage.set("LD_LIBRARY_PATH", folder.string() + ":" + stage.bare_environment().at("LD_LIBRARY_PATH"));
  return only(run_host(stage, "observed"), "probe");
}

}  // namespace

TEST_CASE("helper: a library on the program's path that gpumem cannot be loaded with") {
  NEEDS(scripted_driver);
  const auto probe = probe_beside_library("libdw.so.1", "no library");
  CHECK(probe.at("status") == "ok");
  CHECK(probe.at("reason") == "without LD_LIBRARY_PATH, with which gpumem ended with status 127");
  CHECK(Line::parse(probe.at("said").get<std::string>()).at("system").at("status") == "ok");
  CHECK_FALSE(probe_beside_library("libother.so.1", "no library").contains("reason"));
}

TEST_CASE("helper: a second try is made where the first could not be loaded, and no third") {
  NEEDS(scripted_driver);
  for (const int status : {1, 127, 3}) {
    INFO(status);
    Stage stage;
    const auto count = stage.folder() / "tries";
    const auto end = "exit " + std::to_string(status);
    stage.script(failing_start)
        .set("GPUMEM_PROBE", script_in(stage, "echo \"[$LD_LIBRARY_PATH]\" >> " + count.string() + "; " + end));
    const auto probe = only(run_host(stage, "observed"), "probe");
    CHECK(probe.at("status") == "failed");
    CHECK(probe.at("reason") == "it ended with status " + std::to_string(status));
    const auto tries = read_text(count);
    CHECK(std::count(tries.begin(), tries.end(), '\n') == (status == 3 ? 1 : 2));
    CHECK((tries.find("[]") != std::string::npos) == (status != 3));
  }
}
