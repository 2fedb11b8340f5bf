// CUDA clients in Python that nobody here wrote.
#include "ways.hpp"

using namespace gpumem::test;

namespace {

using Bytes = std::map<std::string, std::uint64_t>;

// Runs the client without the shim and with it, wants both alike, and answers what it printed.
std::string run_client(Stage& stage, const std::string& name) {
  stage.set("PYTHONDONTWRITEBYTECODE", "1");
  const std::vector<std::string> argv{client_python(), python_program(name)};
  const auto bare = stage.run_bare(argv), traced = stage.run_traced(argv);
  INFO(bare);
  INFO(traced);
  REQUIRE(bare.status == 0);
  CHECK(traced == bare);
  return bare.out;
}

// The only block of this size: which kind it is, and that it was freed by a call.
void check_came_and_went(const Journal& journal, std::uint64_t bytes, const std::string& kind) {
  INFO(kind);
  const auto block = only(journal.allocations_of(bytes));
  CHECK(block.at("k") == kind);
  CHECK(is_freed(journal, block));
}

void check_object_came_and_went(const Journal& journal, const std::string& kind) {
  INFO(kind);
  const auto object = only(journal.allocations(kind));
  CHECK(object.at("u") == 1);
  CHECK(is_freed(journal, object));
}

}  // namespace

TEST_CASE("python: numba") {
  NEEDS(driver);
  NEEDS(python_clients);
  Stage stage;
  // Numba keeps ten frees back, unless it is told not to.
  stage.set("NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT", "0");
  CHECK(run_client(stage, "numba_session.py") == "kept 15015 bytes\n");
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(100003).size() == 1);
  CHECK(journal.allocations_of(20011).size() == 5);
  for (int step = 0; step < 5; ++step) CHECK(journal.allocations_of(3001 + step).size() == 1);
  check_came_and_went(journal, 30011, "pinned");
  check_object_came_and_went(journal, "event");
  CHECK(journal.events("free").size() == 1 + 5 + 2);
  CHECK(live_bytes(journal) == Bytes{{"device", 15015}, {"managed", 30013}, {"stream", 1}});
  check_totals(journal);
  CHECK(journal.process().at("exe").get<std::string>().find("python") != std::string::npos);

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
  stage.script({{"globals", {{"weights", 60013}}}});
  run_client(stage, "bindings_session.py");
  const auto journal = stage.journal();
  CHECK(journal.allocations_of(70001).size() == 1);
  CHECK(journal.allocations_of(5003).size() == 3);
  check_came_and_went(journal, 60013, "variable");
  CHECK(only(journal.allocations_of(60013)).at("of") == only(journal.allocations("module")).at("i"));
  check_came_and_went(journal, 60017, "async");
  CHECK(only(journal.allocations_of(60017)).at("of") == only(journal.allocations("pool")).at("i"));
  check_came_and_went(journal, 60029, "async");
  CHECK_FALSE(only(journal.allocations_of(60029)).contains("of"));
  CHECK(journal.peak("async") == 60029);
  check_came_and_went(journal, 3 * 4096, "registered");
  for (const char* kind : {"module", "stream", "event", "pool"}) check_object_came_and_went(journal, kind);
  CHECK(live_bytes(journal) == Bytes{{"device", 70001}});
  CHECK(only(journal.failures()).at("n") == (1ull << 50) + 17);
  check_totals(journal);
}

TEST_CASE("python: PyCUDA") {
  NEEDS(driver);
  NEEDS(pycuda);
  Stage stage;
  stage.script({{"globals", {{"weights", 50069}}}});
  const auto out = run_client(stage, "pycuda_session.py");
  CHECK(out.find("weights have 50069 bytes\ncuMemAlloc failed: out of memory\n") != std::string::npos);
  const auto journal = stage.journal();
  check_came_and_went(journal, 50023, "device");
  check_came_and_went(journal, std::stoull(out.substr(std::string("pitch ").size())) * 7, "pitched");
  check_came_and_went(journal, 101 * 3 * 2 * 4, "array");
  check_came_and_went(journal, 50033, "managed");
  check_came_and_went(journal, 50047, "pinned");
  check_came_and_went(journal, 50069, "variable");
  for (const char* kind : {"module", "stream", "event"}) check_object_came_and_went(journal, kind);

  const auto abandoned = only(journal.allocations_of(50053)), end = only(journal.events("context_end"));
  CHECK(abandoned.at("c") == end.at("c"));
  CHECK(end.at("blocks") == 1);
  CHECK(end.at("bytes") == 50053);
  CHECK_FALSE(is_freed(journal, abandoned));
  CHECK(live_bytes(journal) == Bytes{{"device", 50021}});

  // PyCUDA collects garbage and tries again.
  REQUIRE(journal.failures().size() == 2);
  for (const Line& failure : journal.failures()) {
    CHECK(failure.at("code") == 2);
    CHECK(failure.at("n") == (1ull << 50) + 17);
    CHECK(failure.at("u") == 50021);
  }
}

TEST_CASE("python: virtual memory that grows by chunks, one of them shared with another process") {
  NEEDS(driver);
  NEEDS(python_clients);
  Stage stage;
  CHECK(run_client(stage, "vmm_session.py") == "the reader saw hello\nthe reader ended with 0\n");
  auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  if (journals[0].process().at("ppid") == journals[1].pid()) std::swap(journals[0], journals[1]);
  const Journal &owner = journals[0], &reader = journals[1];

  const auto physical = owner.allocations("physical"), mapped = owner.allocations("mapped");
  REQUIRE(physical.size() == 6);
  REQUIRE(mapped.size() == 6);
  for (std::size_t chunk = 0; chunk < 6; ++chunk) {
    CHECK(physical[chunk].at("n") == page);
    CHECK(mapped[chunk].at("of") == physical[chunk].at("i"));
  }
  for (const std::size_t tail : {3u, 4u}) {
    CHECK(only(of_block(owner, "free", physical[tail])).at("api") == "cuMemRelease");
    CHECK(only(of_block(owner, "free", mapped[tail])).at("api") == "cuMemUnmap");
  }
  CHECK(mapped[5].at("p") == mapped[3].at("p"));
  CHECK(only(of_block(owner, "ref", physical[0])).at("api") == "cuMemRetainAllocationHandle");
  CHECK(only(of_block(owner, "unref", physical[0])).at("api") == "cuMemRelease");
  CHECK(only(owner.events("export")).at("i") == physical[1].at("i"));
  CHECK(owner.peak("physical") == 5 * page);
  CHECK(owner.peak("mapped") == 5 * page);
  CHECK(live_bytes(owner) == Bytes{{"reserved", 64 * page}, {"physical", 4 * page}, {"mapped", 4 * page}});
  check_totals(owner);

  CHECK(reader.process().at("ppid") == owner.pid());
  CHECK(reader.allocations("physical").empty());
  check_came_and_went(reader, 0, "imported");
  check_came_and_went(reader, page, "mapped");
  CHECK(only(reader.allocations("mapped")).at("of") == only(reader.allocations("imported")).at("i"));
  check_came_and_went(reader, 64 * page, "reserved");
  CHECK(live_bytes(reader).empty());
  check_totals(reader);
}
