// CUDA clients in Python that nobody here wrote.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

struct Session {
  Outcome bare, traced;
  Journal journal;
};

Session run_client(Stage& stage, const std::string& name) {
  const std::vector<std::string> argv{client_python(), python_program(name)};
  Session session{stage.run_bare(argv), stage.run_traced(argv), {}};
  INFO(session.bare);
  INFO(session.traced);
  REQUIRE(session.bare.status == 0);
  CHECK(session.traced == session.bare);
  session.journal = stage.journal();
  return session;
}

}  // namespace

TEST_CASE("python: numba") {
  NEEDS(driver);
  NEEDS(python_clients);
  Stage stage;
  // Numba keeps ten frees back, unless it is told not to.
  stage.set("NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT", "0").set("PYTHONDONTWRITEBYTECODE", "1");
  const auto session = run_client(stage, "numba_session.py");
  CHECK(session.bare.out == "kept 15015 bytes\n");
  CHECK(session.journal.allocations_of(100003).size() == 1);
  CHECK(session.journal.allocations_of(20011).size() == 5);
  for (int step = 0; step < 5; ++step) CHECK(session.journal.allocations_of(3001 + step).size() == 1);
  CHECK(session.journal.events("free").size() == 1 + 5);
  const auto live = session.journal.live_at_end();
  CHECK(live.size() == 5);
  for (const auto& line : live) CHECK(line.at("n").get<int>() / 10 == 300);
  CHECK(session.journal.process().at("exe").get<std::string>().find("python") != std::string::npos);

  const auto report = stage.gpumem({"report", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  CHECK(report.out.find("ython") != std::string::npos);
  CHECK(stage.gpumem({"leaks", "--format", "json", stage.journals()}).out.find("15015") != std::string::npos);
}

TEST_CASE("python: NVIDIA's own bindings") {
  NEEDS(driver);
  NEEDS(python_clients);
  Stage stage;
  stage.set("PYTHONDONTWRITEBYTECODE", "1");
  const auto session = run_client(stage, "bindings_session.py");
  CHECK(session.journal.allocations_of(70001).size() == 1);
  CHECK(session.journal.allocations_of(5003).size() == 3);
  CHECK(session.journal.events("free").size() == 3);
  const auto live = session.journal.live_at_end();
  REQUIRE(live.size() == 1);
  CHECK(live[0].at("n") == 70001);
  REQUIRE(session.journal.failures().size() == 1);
  CHECK(session.journal.failures()[0].at("n") == (1ull << 50) + 17);
}
