// Every way of getting memory through each version of the runtime: one record for each block, which names both the
// runtime's function and the driver's inside it.
#include "ways.hpp"

using namespace gpumem::test;

namespace {

using Bytes = std::map<std::string, std::uint64_t>;

struct Runtime {
  int major;
  const char* library;
};
constexpr Runtime runtimes[] = {{11, "libcudart.so.11.0"}, {12, "libcudart.so.12"}, {13, "libcudart.so.13"}};

template <class Check>
void over_each_runtime(const char* program_name, const std::string& way, Check&& check) {
  for (const Runtime& runtime : runtimes) {
    INFO(runtime.library);
    Stage stage;
    const auto journal = journal_of_ways(stage, {program(program_name), runtime.library, way});
    for (const Line& line : journal.allocations()) {
      INFO(line);
      CHECK(line.at("api").get<std::string>().starts_with("cuda"));
      if (line.contains("i")) CHECK_FALSE(line.at("in").get<std::string>().starts_with("cuda"));
    }
    check_totals(journal);
    check(journal, runtime.major);
  }
}

}  // namespace

TEST_CASE("runtime ways: linear and managed memory") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "linear", [](const Journal& journal, int) {
    REQUIRE(journal.allocations("device").size() == 3);
    CHECK(is_freed(journal, only(journal.allocations_of(60017))));
    const auto nothing = only(journal.allocations_of(0));
    CHECK(nothing.at("p") == "0x0");
    CHECK_FALSE(nothing.contains("i"));
    const auto failure = only(journal.failures());
    CHECK(failure.at("api") == "cudaFree");
    CHECK(failure.at("in") == "cuMemFree_v2");
    CHECK(live_bytes(journal) == Bytes{{"device", 60013}, {"managed", 60029}});
  });
}

TEST_CASE("runtime ways: pitched memory counts its real rows, layer by layer") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "pitched", [](const Journal& journal, int) {
    const auto rows = journal.allocations("pitched");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].at("n") == 1024 * 7);
    CHECK(rows[1].at("n") == 3072 * 11 * 2);
    CHECK(rows[1].at("api") == "cudaMalloc3D");
    CHECK(live_bytes(journal) == Bytes{{"pitched", 3072 * 11 * 2}});
  });
}

TEST_CASE("runtime ways: arrays count what was asked for, element by element and level by level") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "arrays", [](const Journal& journal, int) {
    const auto arrays = journal.allocations("array");
    REQUIRE(arrays.size() == 4);
    CHECK(arrays[0].at("n") == 101 * 3 * 4 * 4);
    CHECK(arrays[1].at("n") == 17 * 5 * 3 * 2 * 2);
    CHECK(arrays[2].at("n") == 16 * 16 + 8 * 8 + 4 * 4);
    CHECK(arrays[3].at("n") == 0);
    CHECK(is_freed(journal, arrays[0]));
    CHECK(is_freed(journal, arrays[2]));
    CHECK(only(journal.failures()).at("api") == "cudaFreeArray");
    CHECK(live_bytes(journal) == Bytes{{"array", 17 * 5 * 3 * 2 * 2}});
  });
}

TEST_CASE("runtime ways: stream-ordered memory names its pool, and imported pointers are others' memory") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "pools", [](const Journal& journal, int) {
    const auto pools = journal.allocations("pool");
    REQUIRE(pools.size() == 2);
    const auto plain = only(journal.allocations_of(10009)), from_pool = only(journal.allocations_of(10007)),
               imported = only(journal.allocations("imported"));
    Line chosen;
    for (const Line& line : journal.allocations("async"))
      if (line.at("n") == 10037) chosen = line;
    CHECK(from_pool.at("of") == pools[0].at("i"));
    CHECK_FALSE(plain.contains("of"));
    CHECK(chosen.at("of") == pools[0].at("i"));
    CHECK(chosen.at("st") == "0x2");
    CHECK(imported.at("n") == 10037);
    CHECK(imported.at("of") == pools[1].at("i"));
    for (const Line& line : {plain, from_pool, imported, pools[0], pools[1]}) CHECK(is_freed(journal, line));
    const auto exported = journal.events("export");
    REQUIRE(exported.size() == 2);
    CHECK(exported[0].at("i") == pools[0].at("i"));
    CHECK(exported[1].at("i") == chosen.at("i"));
    CHECK_FALSE(samples(journal, "trim").empty());
    CHECK(live_bytes(journal) == Bytes{{"async", 10037}});
  });
}

TEST_CASE("runtime ways: graph memory, whatever form the runtime's functions have") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "graphs", [](const Journal& journal, int major) {
    const auto graphs = journal.allocations("graph");
    REQUIRE(graphs.size() == 2);
    const auto node = only(journal.allocations_of(30011)), captured = only(journal.allocations_of(30013));
    Lines nodes{node};
    if (major >= 12) nodes.push_back(only(journal.allocations_of(30017)));
    for (const Line& each : nodes) {
      CHECK(each.at("k") == "graph_memory");
      CHECK(each.at("of") == graphs[0].at("i"));
      CHECK(only(of_block(journal, "free", each)).at("api") == "cudaGraphExecDestroy");
    }
    CHECK(only(of_block(journal, "unref", node)).at("api") == "cudaFreeAsync");
    const auto exec = only(journal.allocations("graph_exec"));
    CHECK(exec.at("api") == "cudaGraphInstantiate");
    CHECK(exec.at("of") == graphs[0].at("i"));
    CHECK(is_freed(journal, exec));
    CHECK(captured.at("of") == graphs[1].at("i"));
    CHECK(graphs[1].at("api") == "cudaStreamEndCapture");
    CHECK(journal.failures().empty());
    CHECK(live_bytes(journal) == Bytes{{"graph", 1}, {"graph_memory", 30013}, {"stream", 1}});
  });
}

TEST_CASE("runtime ways: page-locked and registered memory") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "host", [](const Journal& journal, int) {
    CHECK(is_freed(journal, only(journal.allocations_of(40009))));
    const auto registered = journal.allocations("registered");
    REQUIRE(registered.size() == 2);
    CHECK(registered[0].at("n") == 5 * 4096);
    CHECK(is_freed(journal, registered[0]));
    CHECK(only(journal.failures()).at("n") == 5 * 4096);
    CHECK(live_bytes(journal) == Bytes{{"pinned", 40013}, {"registered", 3 * 4096}});
  });
}

TEST_CASE("runtime ways: streams and events are counted once") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "objects", [](const Journal& journal, int) {
    CHECK(journal.allocations("stream").size() == 3);
    CHECK(journal.allocations("event").size() == 2);
    CHECK(live_bytes(journal) == Bytes{{"stream", 1}, {"event", 1}});
  });
}

TEST_CASE("runtime ways: libraries, and the variables in them") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "code", [](const Journal& journal, int major) {
    CHECK(journal.allocations().empty() == (major < 12));  // which knows no libraries
    if (major < 12) return;
    const auto libraries = journal.allocations("library"), variables = journal.allocations("variable");
    REQUIRE(libraries.size() == 2);
    REQUIRE(variables.size() == 2);
    CHECK(variables[0].at("of") == libraries[0].at("i"));
    CHECK(only(of_block(journal, "free", variables[0])).at("api") == "cudaLibraryUnload");
    CHECK(live_bytes(journal) == Bytes{{"library", 1}, {"variable", 1 << 20}});
  });
}

TEST_CASE("runtime ways: a changed limit, and a reset that ends what lived") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_ways", "limits", [](const Journal& journal, int) {
    const auto limit = only(journal.events("limit"));
    CHECK(limit.at("api") == "cudaDeviceSetLimit");
    CHECK(limit.at("n") == 64u << 20);
  });
  over_each_runtime("runtime_ways", "live_reset", [](const Journal& journal, int) {
    const auto end = only(journal.events("context_end"));
    CHECK(end.at("api") == "cudaDeviceReset");
    CHECK(end.at("blocks") == 4);
    CHECK(end.at("bytes").get<std::uint64_t>() == 70003 + 70009 + 16 * 16 * 4);
    CHECK(live_bytes(journal) == Bytes{{"pinned", 70019}, {"async", 70021}});
  });
}

TEST_CASE("runtime ways: external memory and graphics resources") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  over_each_runtime("runtime_foreign_ways", "external", [](const Journal& journal, int) {
    const auto external = journal.allocations("external"), views = journal.allocations("view");
    REQUIRE(external.size() == 2);
    REQUIRE(views.size() == 2);
    CHECK(external[0].at("n") == 1 << 20);
    CHECK(views[0].at("of") == external[0].at("i"));
    CHECK(live_bytes(journal) == Bytes{{"external", 1 << 20}, {"view", 70001}});
  });
  over_each_runtime("runtime_foreign_ways", "graphics", [](const Journal& journal, int) {
    const auto resources = journal.allocations("graphics"), views = journal.allocations("view");
    REQUIRE(resources.size() == 2);
    REQUIRE(views.size() == 2);
    CHECK(views[0].at("of") == resources[0].at("i"));
    CHECK(only(of_block(journal, "free", views[0])).at("api") == "cudaGraphicsUnmapResources");
    CHECK(live_bytes(journal) == Bytes{{"graphics", 1}, {"view", 1 << 20}});
  });
}

TEST_CASE("runtime ways: memory of another process is one block however often it is opened") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  for (const Runtime& runtime : runtimes) {
    INFO(runtime.library);
    Stage stage;
    run_unnoticed(stage, {program("runtime_foreign_ways"), runtime.library, "ipc"});
    const auto journals = read_journals(stage.journals());
    REQUIRE(journals.size() == 2);
    const bool child_first = !journals[0].allocations("ipc").empty();
    const Journal &child = journals[child_first ? 0 : 1], &parent = journals[child_first ? 1 : 0];
    CHECK(only(parent.events("export")).at("i") == only(parent.allocations_of(50021)).at("i"));
    const auto opened = child.allocations("ipc");
    REQUIRE(opened.size() == 2);
    for (const Line& line : opened) CHECK(line.at("in").get<std::string>().starts_with("cuIpcOpenMemHandle"));
    CHECK(opened[0].at("n") == 50021);
    CHECK(only(of_block(child, "ref", opened[0])).at("refs") == 2);
    CHECK(only(of_block(child, "unref", opened[0])).at("refs") == 1);
    CHECK(is_freed(child, opened[0]));
    CHECK(only(child.failures()).at("api") == "cudaIpcCloseMemHandle");
    CHECK(live_bytes(child) == Bytes{{"ipc", 50021}});
  }
}
