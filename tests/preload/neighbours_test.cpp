// Beside other tools that want to be loaded first. Where the order matters, docs/LIMITS.md states it.
#include <algorithm>
#include <iostream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

const std::string libraries = "/usr/lib/x86_64-linux-gnu/";

#define NEEDS_FILE(file)                                            \
  if (!std::filesystem::exists(file)) {                             \
    skipped("there is no " + std::filesystem::path(file).string()); \
    return;                                                         \
  }

std::string preload_list(const std::vector<std::string>& entries) {
  std::string list;
  for (const auto& entry : entries) list += (list.empty() ? "" : ":") + entry;
  return list;
}

// The session of a program that looks the driver up, with several libraries preloaded in an order.
Outcome session_under(const Stage& stage, const std::string& name, const std::vector<std::string>& preloads,
                      const Environment& more = {}) {
  auto environment = stage.traced_environment();
  environment["LD_PRELOAD"] = preload_list(preloads);
  environment.insert(more.begin(), more.end());
  return stage.run({{program(name), "dlsym"}, environment});
}

void check_session(const Journal& journal) {
  CHECK(journal.allocations_of(10007).size() == 1);
  CHECK(journal.events("free").size() == 3);
  CHECK(journal.live_at_end().size() == 1);
}

std::string sanitizer_library() {
  const auto outcome = run({{"gcc", "-print-file-name=libasan.so"}, plain_environment()});
  return std::filesystem::path(outcome.out.substr(0, outcome.out.find('\n'))).lexically_normal();
}

}  // namespace

TEST_CASE("neighbours: other allocators, before the shim and after it") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const std::string& allocator :
       std::vector{libraries + "libjemalloc.so.2", libraries + "libtcmalloc_minimal.so.4"}) {
    NEEDS_FILE(allocator);
    INFO(allocator);
    Stage stage;
    const auto bare = stage.run_bare({program("route_lookup"), "dlsym"});
    for (const auto& order : {std::vector{shim().string(), allocator}, std::vector{allocator, shim().string()}}) {
      CHECK(session_under(stage, "route_lookup", order) == bare);
      check_session(read_journals(stage.journals()).back());
    }
  }
}

namespace {

void allocate_while_libraries_come_and_go(const std::string& allocator, const Environment& more = {}) {
  NEEDS(driver);
  NEEDS(nvcc);
  NEEDS_FILE(allocator);
  for (const auto& order : {std::vector{allocator, shim().string()}, std::vector{shim().string(), allocator}}) {
    Stage stage;
    stage.set("GPUMEM_JOURNAL_MAX", "4G");
    auto environment = stage.traced_environment();
    environment["LD_PRELOAD"] = preload_list(order);
    environment.insert(more.begin(), more.end());
    const auto outcome = stage.run({{program("loader_storm"), program("small_library.so"), full() ? "20000" : "500"},
                                    environment,
                                    {},
                                    std::chrono::seconds(600)});
    INFO(outcome);
    CHECK_FALSE(outcome.timed_out);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("0 failures, 0 libraries missing") != std::string::npos);
    CHECK(stage.journal().live_at_end().empty());
  }
}

}  // namespace

TEST_CASE("neighbours: jemalloc while libraries come and go") {
  allocate_while_libraries_come_and_go(libraries + "libjemalloc.so.2");
}
TEST_CASE("neighbours: tcmalloc without its profiler while libraries come and go") {
  allocate_while_libraries_come_and_go(libraries + "libtcmalloc_minimal.so.4");
}
TEST_CASE("neighbours: tcmalloc with its profiler while libraries come and go") {
  allocate_while_libraries_come_and_go(libraries + "libtcmalloc.so.4");
}
TEST_CASE("neighbours: AddressSanitizer while libraries come and go") {
  allocate_while_libraries_come_and_go(sanitizer_library(),
                                       {{"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0"}});
}

TEST_CASE("neighbours: AddressSanitizer before the shim, or told not to mind its place") {
  NEEDS(driver);
  NEEDS(nvcc);
  const auto sanitizer = sanitizer_library();
  NEEDS_FILE(sanitizer);
  Stage stage;
  const auto bare = session_under(stage, "route_lookup_asan", {}, {{"ASAN_OPTIONS", "detect_leaks=0"}});
  REQUIRE(bare.status == 0);
  CHECK(session_under(stage, "route_lookup_asan", {sanitizer, shim()}, {{"ASAN_OPTIONS", "detect_leaks=0"}}) == bare);
  check_session(read_journals(stage.journals()).back());
  CHECK(session_under(stage, "route_lookup_asan", {shim()},
                      {{"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0"}}) == bare);
  check_session(read_journals(stage.journals()).back());
}

TEST_CASE("neighbours: heaptrack around a program under the shim") {
  NEEDS(driver);
  NEEDS(nvcc);
  NEEDS_FILE("/usr/bin/heaptrack");
  Stage stage;
  const auto outcome = stage.run_traced({"heaptrack", "-o", stage.folder() / "heap", program("route_lookup"), "dlsym"});
  INFO(outcome);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find(stage.run_bare({program("route_lookup"), "dlsym"}).out) != std::string::npos);
  check_session(read_only_journal(stage.journals()));
  // With zstd where that is installed.
  CHECK((std::filesystem::exists(stage.folder() / "heap.zst") || std::filesystem::exists(stage.folder() / "heap.gz")));
}

TEST_CASE("neighbours: memray around a Python program under the shim") {
  NEEDS(driver);
  NEEDS(python_clients);
  Stage stage;
  stage.set("PYTHONDONTWRITEBYTECODE", "1");
  const auto profile = stage.folder() / "profile.bin";
  const auto outcome = stage.run_traced(
      {client_python(), "-m", "memray", "run", "--native", "-q", "-o", profile, python_program("bindings_session.py")});
  INFO(outcome);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == stage.run_bare({client_python(), python_program("bindings_session.py")}).out);
  CHECK(read_only_journal(stage.journals()).allocations_of(70001).size() == 1);
  CHECK(std::filesystem::file_size(profile) > 0);
}

TEST_CASE("neighbours: a program starts less than a millisecond later") {
  Stage stage;
  // The least of many interleaved runs: what other work on the machine cannot add to.
  using Clock = std::chrono::steady_clock;
  for (const auto& name : {std::string("true"), program("static_program"), program("own_malloc")}) {
    const auto duration = [&](bool traced) {
      const auto begin = Clock::now();
      traced ? stage.run_traced({name}) : stage.run_bare({name});
      return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    };
    double bare = 1e9, traced = 1e9;
    for (int round = 0; round < 200; ++round) {
      bare = std::min(bare, duration(false));
      traced = std::min(traced, duration(true));
    }
    std::cout << name << ": " << bare << " ms without the shim, " << traced << " ms with it, ratio " << traced / bare
              << "\n";
    CHECK(traced - bare < 1.0);
  }
}
