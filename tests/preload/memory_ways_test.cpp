// Every way of getting memory: what the journal says of it, once, and what is left at the end.
#include "ways.hpp"

using namespace gpumem::test;

namespace {

Journal journal_of(Stage& stage, const std::string& way) {
  return journal_of_ways(stage, {program("memory_ways"), way});
}

}  // namespace

TEST_CASE("memory ways: pitched memory counts its real rows") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "pitched");
  const auto rows = journal.allocations("pitched");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("n").get<std::uint64_t>() % 7 == 0);
  CHECK(rows[0].at("n").get<std::uint64_t>() >= 1001 * 7);
  CHECK(is_freed(journal, rows[0]));
  CHECK_FALSE(is_freed(journal, rows[1]));
  CHECK(rows[0].contains("c"));
  check_totals(journal);
}

TEST_CASE("memory ways: arrays count what was asked for, element by element and level by level") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "arrays");
  const auto arrays = journal.allocations("array");
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].at("n") == 101 * 3 * 4 * 4);
  CHECK(arrays[1].at("n") == 17 * 5 * 3 * 2 * 2);
  CHECK(arrays[2].at("n") == 16 * 16 + 8 * 8 + 4 * 4);
  CHECK(is_freed(journal, arrays[0]));
  CHECK_FALSE(is_freed(journal, arrays[1]));
  CHECK(is_freed(journal, arrays[2]));
  CHECK(only(journal.failures()).at("api") == "cuArrayDestroy");
  check_totals(journal);
}

TEST_CASE("memory ways: stream-ordered memory names its pool, and the pool's reservation is a figure of its own") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "pools");
  const auto pool = only(journal.allocations("pool"));
  CHECK_FALSE(pool.contains("n"));
  CHECK(pool.at("u") == 1);
  const auto from_pool = only(journal.allocations_of(10007)), plain = only(journal.allocations_of(10009)),
             chosen = only(journal.allocations_of(10037));
  CHECK(from_pool.at("of") == pool.at("i"));
  CHECK_FALSE(plain.contains("of"));
  CHECK(chosen.at("of") == pool.at("i"));
  CHECK(chosen.at("st") == "0x2");
  CHECK(is_freed(journal, from_pool));
  CHECK(is_freed(journal, plain));
  CHECK(is_freed(journal, pool));
  CHECK(live_bytes(journal) == std::map<std::string, std::uint64_t>{{"async", 10037}});
  const auto trimmed = samples(journal, "trim");
  REQUIRE(trimmed.size() == 2);
  CHECK(trimmed[0].at("pool") == pool.at("i"));
  CHECK(trimmed[0].at("pool_reserved").get<std::uint64_t>() >= 10037);
  CHECK(trimmed[0].at("pool_used") == 10240);
  check_totals(journal);
}

TEST_CASE("memory ways: physical memory lives while a handle or a mapping refers to it, and is counted once") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "virtual");
  const auto range = only(journal.allocations("reserved"));
  const auto physical = journal.allocations("physical"), mapped = journal.allocations("mapped");
  REQUIRE(physical.size() == 3);
  REQUIRE(mapped.size() == 3);
  CHECK(range.at("n") == 16 * page);
  CHECK_FALSE(range.contains("d"));
  CHECK(mapped[0].at("of") == physical[0].at("i"));
  CHECK(mapped[1].at("of") == physical[1].at("i"));
  CHECK(mapped[2].at("of") == physical[0].at("i"));
  for (const Line& line : mapped) CHECK(only(of_block(journal, "free", line)).at("api") == "cuMemUnmap");
  CHECK(only(of_block(journal, "free", physical[0])).at("api") == "cuMemUnmap");
  CHECK(only(of_block(journal, "free", physical[1])).at("api") == "cuMemRelease");
  CHECK(only(of_block(journal, "ref", physical[0])).at("refs") == 3);
  CHECK(is_freed(journal, range));
  CHECK(live_bytes(journal) == std::map<std::string, std::uint64_t>{{"physical", 5 * page}});
  CHECK(journal.peak("physical") == 5 * page);
  CHECK(journal.failures().size() == 2);
  check_totals(journal);
}

TEST_CASE("memory ways: the end of a context ends what lived in it, but no physical or stream-ordered memory") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "context");
  const auto end = only(journal.events("context_end"));
  // linear, pitched, managed, cuMemAllocHost, array, stream, event, module
  CHECK(end.at("blocks") == 8);
  const auto live = live_bytes(journal);
  CHECK(live == std::map<std::string, std::uint64_t>{{"async", 20047}, {"physical", page}, {"pinned", 20029}});
}

TEST_CASE("memory ways: registered memory is the program's own, whatever else its address is") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "registered");
  const auto blocks = journal.allocations("registered");
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].at("n") == 5 * 4096);
  CHECK(is_freed(journal, blocks[0]));
  CHECK(blocks[0].at("p") == blocks[1].at("p"));
  CHECK(live_bytes(journal) == std::map<std::string, std::uint64_t>{{"registered", 3 * 4096}});
  check_totals(journal);
}

TEST_CASE("memory ways: graph memory belongs to its graph until that and all that was made of it have gone") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "graphs");
  const auto graphs = journal.allocations("graph");
  REQUIRE(graphs.size() == 2);
  const auto node = only(journal.allocations_of(30011)), captured = only(journal.allocations_of(30013)),
             lost = only(journal.allocations_of(30029));
  CHECK(node.at("k") == "graph_memory");
  CHECK(node.at("of") == graphs[0].at("i"));
  CHECK(only(of_block(journal, "unref", node)).at("api") == "cuMemFreeAsync");
  CHECK(only(of_block(journal, "free", node)).at("api") == "cuGraphExecDestroy");
  CHECK(only(journal.allocations("graph_exec")).at("of") == graphs[0].at("i"));
  CHECK(captured.at("k") == "graph_memory");
  CHECK(captured.at("of") == graphs[1].at("i"));
  CHECK(lost.at("k") == "graph_memory");
  CHECK(only(of_block(journal, "free", lost)).at("api") == "cuStreamEndCapture");
  bool trimmed = false;
  for (const Line& sample : journal.of_type("sample"))
    trimmed |= sample.at("why") == "trim" && sample.contains("graph_reserved");
  CHECK(trimmed);
  const auto live = live_bytes(journal);
  CHECK(live.at("graph_memory") == 30013);
  check_totals(journal);
}

TEST_CASE("memory ways: a variable is told once, however often it is asked for, and ends with its module") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "code");
  const auto module = only(journal.allocations("module")), library = only(journal.allocations("library"));
  const auto variables = journal.allocations("variable");
  REQUIRE(variables.size() == 2);
  CHECK(variables[0].at("of") == module.at("i"));
  CHECK(variables[1].at("of") == library.at("i"));
  CHECK(variables[0].at("n").get<std::uint64_t>() > 0);
  CHECK(only(of_block(journal, "free", variables[0])).at("api") == "cuModuleUnload");
  CHECK(is_freed(journal, module));
  CHECK_FALSE(samples(journal, "code").empty());
}

TEST_CASE("memory ways: streams and events are counted, not measured") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "objects");
  CHECK(is_freed(journal, only(journal.allocations("stream"))));
  const auto events = journal.allocations("event");
  REQUIRE(events.size() == 2);
  CHECK(events[1].at("u") == 2);
  CHECK_FALSE(events[1].contains("n"));
  CHECK(live_bytes(journal) == std::map<std::string, std::uint64_t>{{"event", 1}});
}

TEST_CASE("memory ways: a changed limit is told with what the driver has left") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "limits");
  const auto limit = only(journal.events("limit"));
  CHECK(limit.at("limit") == 2);
  CHECK(limit.at("n") == 64u << 20);
  CHECK(samples(journal, "limit").size() == 1);
}

TEST_CASE("memory ways: frees of what is not there, or not theirs, are failures with their pointer") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "nothing");
  const auto failures = journal.failures();
  REQUIRE(failures.size() == 3);
  const auto block = only(journal.allocations_of(40009));
  CHECK(failures[0].at("p") == "0x12345600");
  CHECK(failures[1].at("p") == block.at("p"));
  CHECK(failures[2].at("api") == "cuMemFreeHost");
  CHECK(failures[2].at("p") == block.at("p"));
  CHECK(is_freed(journal, block));
}

TEST_CASE("memory ways: the driver is asked after the first launch, the tenth and the hundredth") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_SAMPLE_EVERY", "0");
  const auto journal = journal_of(stage, "launches");
  CHECK(samples(journal, "launch").size() == 2);
  CHECK(samples(journal, "time").empty());
  CHECK(journal.of_type("end")[0].at("calls").at("cuLaunchKernel") == 12);
}

TEST_CASE("memory ways: the driver is asked every so often, along with calls") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_SAMPLE_EVERY", "20");
  const auto journal = journal_of(stage, "slow");
  const auto taken = samples(journal, "time");
  REQUIRE(taken.size() == 7);
  for (std::size_t i = 1; i < taken.size(); ++i)
    CHECK(taken[i].at("ns").get<std::uint64_t>() - taken[i - 1].at("ns").get<std::uint64_t>() >= 20'000'000);
}

TEST_CASE("memory ways: a process that does not come to its end has told its counters meanwhile") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_SAMPLE_EVERY", "4");
  const auto journal = journal_of(stage, "slow");
  const auto totals = journal.of_type("totals");
  REQUIRE(totals.size() == 2);
  const std::uint64_t first = totals[0].at("calls").at("cuMemAlloc_v2"),
                      second = totals[1].at("calls").at("cuMemAlloc_v2");
  CHECK(first < second);
  CHECK(second < 8);
  // A call is counted before what it did.
  CHECK(totals[1].at("peaks")[0].at("bytes") == second * 50021);
}
