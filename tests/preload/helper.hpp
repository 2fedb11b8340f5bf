// A program whose start of CUDA fails, so that the shim looks at the machine.
#pragma once

#include "stage.hpp"

namespace gpumem::test {

inline const Line failing_start = {{"rules", {{{"call", "cuInit"}, {"code", 2}}}}};

inline Line only(const Journal& journal, const std::string& type) {
  const auto lines = journal.of_type(type);
  REQUIRE(lines.size() == 1);
  return lines[0];
}

// Runs failing_host in a situation with and without the shim, and checks that it sees no difference.
inline Journal run_host(const Stage& stage, const std::string& situation) {
  const std::vector<std::string> argv{program("failing_host"), situation};
  const auto bare = stage.run_bare(argv), traced = stage.run_traced(argv);
  INFO(situation);
  CHECK(bare.status == 0);
  CHECK(traced == bare);
  return stage.journal();
}

inline std::string script_in(const Stage& stage, const std::string& commands) {
  const auto file = stage.folder() / "probe";
  write_text(file, "#!/bin/sh\n" + commands + "\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

inline Stage& with_witness(Stage& stage) {
  return stage.script(failing_start).set("GPUMEM_PROBE", program("helper_witness"));
}

inline Line witnessed(const Journal& journal) {
  const auto probe = only(journal, "probe");
  REQUIRE(probe.at("status") == "ok");
  return Line::parse(probe.at("said").get<std::string>());
}

// The last probe of a program that goes on although none could be started.
inline void not_started(const Journal& journal, const std::string& reason) {
  const auto probes = journal.of_type("probe");
  REQUIRE_FALSE(probes.empty());
  CHECK(probes.back().at("status") == "not started");
  CHECK(probes.back().at("reason") == reason);
}

}  // namespace gpumem::test
