// Memory of other processes, interfaces and devices in a driver program: what the journal says of it.
#include "ways.hpp"

using namespace gpumem::test;

namespace {

using Bytes = std::map<std::string, std::uint64_t>;

Journal journal_of(Stage& stage, const std::string& way) {
  return journal_of_ways(stage, {program("foreign_ways"), way});
}

}  // namespace

TEST_CASE("foreign ways: external memory is others', and its buffers are views of it") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "external");
  const auto external = journal.allocations("external"), views = journal.allocations("view");
  REQUIRE(external.size() == 2);
  REQUIRE(views.size() == 2);
  CHECK(external[0].at("n") == 1 << 20);
  CHECK(views[0].at("n") == 70001);
  CHECK(views[0].at("of") == external[0].at("i"));
  CHECK(only(of_block(journal, "free", views[0])).at("api") == "cuMemFree_v2");
  CHECK(only(of_block(journal, "free", external[0])).at("api") == "cuDestroyExternalMemory");
  CHECK(is_freed(journal, only(journal.allocations("array"))));
  CHECK(only(journal.failures()).at("api") == "cuDestroyExternalMemory");
  CHECK(live_bytes(journal) == Bytes{{"external", 1 << 20}, {"view", 70001}});
  check_totals(journal);
}

TEST_CASE("foreign ways: a graphics resource has one view while it is mapped") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "graphics");
  const auto resources = journal.allocations("graphics"), views = journal.allocations("view");
  REQUIRE(resources.size() == 2);
  REQUIRE(views.size() == 3);
  CHECK(views[0].at("of") == resources[0].at("i"));
  CHECK(views[2].at("of") == resources[1].at("i"));
  CHECK(only(of_block(journal, "free", views[0])).at("api") == "cuGraphicsUnmapResources");
  CHECK(only(of_block(journal, "free", views[1])).at("api") == "cuGraphicsUnregisterResource");
  CHECK(is_freed(journal, resources[0]));
  CHECK(live_bytes(journal) == Bytes{{"graphics", 1}, {"view", 1 << 20}});
  check_totals(journal);
}

TEST_CASE("foreign ways: what is bound to a multicast object lives on in its binding") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "multicast");
  const auto object = only(journal.allocations("multicast"));
  const auto physical = journal.allocations("physical");
  REQUIRE(physical.size() == 2);
  CHECK_FALSE(object.contains("d"));
  Lines bindings;
  for (const Line& line : journal.allocations("mapped"))
    if (line.at("api").get<std::string>().starts_with("cuMulticastBind")) bindings.push_back(line);
  REQUIRE(bindings.size() == 2);
  CHECK(bindings[0].at("of") == physical[0].at("i"));
  CHECK(bindings[1].at("of") == physical[1].at("i"));
  CHECK(only(of_block(journal, "free", bindings[0])).at("api") == "cuMulticastUnbind");
  CHECK(only(of_block(journal, "free", physical[0])).at("api") == "cuMulticastUnbind");
  CHECK(of_block(journal, "free", physical[1]).empty());
  CHECK(journal.failures().size() == 2);
  CHECK(live_bytes(journal) ==
        Bytes{{"physical", 3 * page}, {"mapped", 3 * page}, {"reserved", 4 * page}, {"multicast", 1}});
  check_totals(journal);
}

TEST_CASE("foreign ways: the tiles of a sparse array keep memory until they, their array or its context go") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "sparse");
  const auto physical = journal.allocations("physical"), arrays = journal.allocations("array");
  REQUIRE(physical.size() == 4);
  REQUIRE(arrays.size() == 2);
  for (const Line& array : arrays) CHECK(array.at("n") == 0);
  CHECK(only(of_block(journal, "free", physical[0])).at("api") == "cuMemMapArrayAsync_ptsz");
  CHECK(only(of_block(journal, "free", physical[1])).at("api") == "cuArrayDestroy");
  CHECK(only(of_block(journal, "free", physical[2])).at("api") == "cuCtxDestroy_v2");
  CHECK(only(of_block(journal, "free", physical[3])).at("api") == "cuMemMapArrayAsync_ptsz");
  CHECK(journal.allocations("mapped").size() == 5);
  CHECK(live_bytes(journal).empty());
}

TEST_CASE("foreign ways: what is imported again where it was made is no other memory, but a pool's pointer is") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "imported");
  const auto physical = only(journal.allocations("physical")), pointer = only(journal.allocations("imported"));
  const auto pools = journal.allocations("pool");
  REQUIRE(pools.size() == 2);
  const auto reference = only(of_block(journal, "ref", physical));
  CHECK(reference.at("api") == "cuMemImportFromShareableHandle");
  CHECK(reference.at("refs") == 2);
  CHECK(pointer.at("n") == 80021);
  CHECK(pointer.at("of") == pools[1].at("i"));
  const auto exported = journal.events("export");
  REQUIRE(exported.size() == 3);
  CHECK(exported[0].at("i") == physical.at("i"));
  CHECK(exported[1].at("i") == pools[0].at("i"));
  CHECK(exported[2].at("i") == only(journal.allocations("async")).at("i"));
  CHECK(live_bytes(journal) ==
        Bytes{{"physical", 2 * page}, {"reserved", 2 * page}, {"pool", 2}, {"async", 80021}, {"imported", 80021}});
  check_totals(journal);
}

TEST_CASE("foreign ways: green contexts are objects, and memory in one is memory of its device") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "green");
  const auto green = journal.allocations("green_context");
  REQUIRE(green.size() == 2);
  CHECK(only(of_block(journal, "free", green[0])).at("api") == "cuGreenCtxDestroy");
  CHECK(only(journal.allocations("stream")).at("api") == "cuGreenCtxStreamCreate");
  const auto block = only(journal.allocations_of(80039));
  CHECK(block.at("d") == 0);
  CHECK(is_freed(journal, block));
  CHECK(live_bytes(journal) == Bytes{{"green_context", 1}});
  check_totals(journal);
}

TEST_CASE("foreign ways: memory handed to others by its address says which block it is") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  const auto journal = journal_of(stage, "exports");
  const auto exported = journal.events("export");
  REQUIRE(exported.size() == 2);
  CHECK(exported[0].at("i") == only(journal.allocations("device")).at("i"));
  CHECK(exported[1].at("i") == only(journal.allocations("physical")).at("i"));
  CHECK(only(journal.failures()).at("tried") == "export");
}

TEST_CASE("foreign ways: memory of another process is one block however often it is opened") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  run_unnoticed(stage, {program("driver_ipc")});
  const auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  const bool child_first = !journals[0].allocations("ipc").empty();
  const Journal &child = journals[child_first ? 0 : 1], &parent = journals[child_first ? 1 : 0];
  const auto exported = parent.events("export");
  REQUIRE(exported.size() == 2);
  CHECK(exported[0].at("i") == only(parent.allocations_of(90001)).at("i"));
  CHECK(exported[1].at("i") == only(parent.allocations("physical")).at("i"));
  const auto opened = child.allocations("ipc"), imported = child.allocations("imported");
  REQUIRE(opened.size() == 2);
  REQUIRE(imported.size() == 2);
  CHECK(opened[0].at("n") == 90001);
  CHECK(only(of_block(child, "ref", opened[0])).at("refs") == 2);
  CHECK(only(of_block(child, "unref", opened[0])).at("refs") == 1);
  CHECK(is_freed(child, opened[0]));
  CHECK(only(of_block(child, "free", imported[0])).at("api") == "cuMemUnmap");
  CHECK(only(child.failures()).at("api") == "cuIpcCloseMemHandle");
  CHECK(live_bytes(child) == Bytes{{"ipc", 90001}, {"imported", 0}, {"reserved", page}});
  check_totals(child);
}
