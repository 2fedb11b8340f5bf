// What ends in another order than it began leaves nothing behind in the ledger, and stops no later record.
#include "ways.hpp"

using namespace gpumem::test;

namespace {

Journal journal_of(Stage& stage, const std::string& way) {
  return journal_of_ways(stage, {program("odd_orders"), way});
}

}  // namespace

TEST_CASE("odd orders: a graph that gets memory after it was instantiated takes it along") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "late_node");
  CHECK(only(of_block(journal, "free", only(journal.allocations_of(60013)))).at("api") == "cuGraphExecDestroy");
  CHECK(journal.live_at_end().empty());
}

TEST_CASE("odd orders: a stream that goes while it is captured ends its capture") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "captured_stream");
  CHECK(only(of_block(journal, "free", only(journal.allocations_of(60017)))).at("api") == "cuStreamDestroy_v2");
  CHECK(samples(journal, "limit").size() == 1);
}

TEST_CASE("odd orders: a context that goes while a stream of it is captured ends that capture") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  CHECK(samples(journal_of(stage, "captured_context"), "limit").size() == 1);
}

TEST_CASE("odd orders: after the current pool has gone, memory is from the default one") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "current_pool");
  CHECK(only(journal.allocations_of(60029)).at("of") == only(journal.allocations("pool")).at("i"));
  CHECK_FALSE(only(journal.allocations_of(60037)).contains("of"));
}

TEST_CASE("odd orders: a multicast object lets go of what was bound to it") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "bound_multicast");
  CHECK(journal.live_at_end().empty());
  CHECK(only(of_block(journal, "free", only(journal.allocations("mapped")))).at("api") == "cuMemRelease");
}

TEST_CASE("odd orders: stream-ordered memory is the stream's device's, whichever is current") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  stage.script({{"devices", {Line::object(), Line::object()}}});
  CHECK(only(journal_of(stage, "other_device").allocations_of(60041)).at("d") == 0);
}
