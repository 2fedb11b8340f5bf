// The two commands of README.md, in a fresh copy of the checkout that is moved afterwards.
#include <chrono>
#include <cstdlib>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

std::string missing_git() {
  const auto outcome = run({{"git", "-C", source_folder(), "rev-parse", "--git-dir"}, plain_environment()});
  return outcome.status == 0 ? "" : "not a git checkout, so its files are not known";
}

std::filesystem::path copy_checkout(const Stage& stage) {
  const auto copy = stage.folder() / "checkout";
  std::filesystem::create_directory(copy);
  const auto outcome =
      run({{"sh", "-c",
            "cd \"$0\" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C \"$1\"",
            source_folder(), copy},
           plain_environment()});
  INFO(outcome);
  REQUIRE(outcome.status == 0);
  return copy;
}

Outcome quickstart(const std::filesystem::path& checkout) {
  auto environment = plain_environment();
  // As scripts/test sets them, but for the folder that paths are relative to.
  for (const char* name : {"CMAKE_CXX_COMPILER_LAUNCHER", "CCACHE_DIR", "CCACHE_NOHASHDIR"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  environment["CCACHE_BASEDIR"] = checkout;
  return run({{checkout / "scripts/quickstart"}, environment, "/", std::chrono::seconds(900)});
}

}  // namespace

TEST_CASE("scripts: quickstart builds, shows a report, and is quick the second time") {
  if (const auto reason = missing_git(); !reason.empty()) return skipped(reason);
  Stage stage(Cuda::none);
  const auto copy = copy_checkout(stage);
  const auto first = quickstart(copy);
  INFO(first);
  REQUIRE(first.status == 0);
  CHECK(std::filesystem::exists(copy / "build/libgpumemshim.so"));
  CHECK(std::filesystem::exists(copy / "build/gpumem"));
  for (const char* words : {"trained 24 steps", "cache_batch", "make_activations", "evaluate", "Next:"})
    CHECK(first.out.find(words) != std::string::npos);

  const auto begin = std::chrono::steady_clock::now();
  const auto second = quickstart(copy);
  INFO(second);
  CHECK(second.status == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));

  if (!full()) return;  // everything is built once more
  const auto moved = stage.folder() / "moved";
  std::filesystem::rename(copy, moved);
  CHECK(quickstart(moved).status == 0);
}

TEST_CASE("scripts: the wheels of the toolkit build programs where no toolkit is installed") {
  NEEDS(scripted_driver);
  if (!full()) return skipped("long form only: scripts/test --full");
  Stage stage;
  auto environment = plain_environment();
  environment["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  environment["GPUMEM_TOOLKIT"] = "wheels";
  const auto made = run({{source_folder() / "scripts/toolkit"}, environment, {}, std::chrono::seconds(600)});
  if (made.status != 0) return skipped("the wheels could not be fetched: " + made.err);
  const auto toolkit = made.out.substr(0, made.out.find('\n'));
  for (const std::string cudart : {"shared", "static"}) {
    INFO(cudart);
    const auto built = stage.run(
        {{toolkit + "/bin/nvcc", "-cudart", cudart, "-o", cudart, source_folder() / "tests/programs/start.cu"},
         environment});
    INFO(built);
    REQUIRE(built.status == 0);
    auto run_environment = stage.script({{"rules", {{{"call", "cuInit"}, {"code", 100}}}}}).bare_environment();
    run_environment["LD_LIBRARY_PATH"] = toolkit + "/lib64:" + run_environment["LD_LIBRARY_PATH"];
    CHECK(stage.run({{stage.folder() / cudart}, run_environment}).out == "100 no CUDA-capable device is detected\n");
  }
}

TEST_CASE("scripts: each explains itself and refuses what it does not know") {
  for (const std::string script : {"quickstart", "toolkit", "clients", "genuine", "test"}) {
    INFO(script);
    const auto help = run({{source_folder() / "scripts" / script, "--help"}, plain_environment(), "/"});
    CHECK(help.status == 0);
    CHECK(help.out.find("usage: scripts/" + script) != std::string::npos);
  }
  CHECK(run({{source_folder() / "scripts/quickstart", "--nonsense"}, plain_environment(), "/"}).status == 1);
}
