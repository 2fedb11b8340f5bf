// What `gpumem probe` answers, here and in a container.
#pragma once

#include "stage.hpp"

namespace gpumem::test {

inline Line answer_of(const Outcome& outcome) {
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err.empty());
  const auto answer = Line::parse(outcome.out);
  CHECK(answer["schema_version"] == 1);
  CHECK(answer["system"]["status"] == "ok");
  CHECK(answer["device_nodes"]["status"] == "ok");
  return answer;
}

inline Line probe(const Stage& stage, const std::string& deadline = "20000") {
  return answer_of(stage.gpumem({"probe", "--deadline", deadline}));
}

// Root in a mount namespace of its own, and in one of processes whose /proc is the caller's unless `more` mounts one.
inline std::vector<std::string> in_namespaces(const std::string& script, const std::string& more = "--mount-proc") {
  return {"unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", more, "sh", "-ec", script};
}

inline std::string missing_namespaces() {
  const auto outcome = run({in_namespaces("mount -t tmpfs none /dev"), plain_environment()});
  return outcome.status == 0 ? "" : "no namespaces may be made here: " + outcome.err;
}

}  // namespace gpumem::test
