// Programs that have nothing to do with CUDA do not notice the shim and leave nothing behind.
#include "stage.hpp"

using namespace gpumem::test;

namespace {

// GPUMEM_QUIET is left out on purpose: silence must not depend on it.
Outcome run_loudly(const Stage& stage, std::vector<std::string> argv) {
  auto environment = stage.traced_environment();
  environment.erase("GPUMEM_QUIET");
  return stage.run({std::move(argv), environment});
}

}  // namespace

TEST_CASE("silent: true, shells and pipes leave no file and no output") {
  Stage stage;
  for (const auto& argv : std::vector<std::vector<std::string>>{{"true"},
                                                                {"sh", "-c", ":"},
                                                                {"sh", "-c", "true | true && (exit 0) && exec true"},
                                                                {"bash", "-c", "true; true & wait"}}) {
    const auto outcome = run_loudly(stage, argv);
    INFO(outcome);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
  }
  CHECK_FALSE(std::filesystem::exists(stage.journals()));
  CHECK(std::filesystem::is_empty(stage.folder()));
}

TEST_CASE("silent: a static program, and one whose malloc looks names up before any constructor") {
  Stage stage;
  const std::vector<std::string> static_program{program("static_program"), "argument"},
      own_malloc{program("own_malloc")};
  CHECK(stage.run_bare(static_program).out == "argument, loader: none\n");
  CHECK(run_loudly(stage, static_program) == stage.run_bare(static_program));
  CHECK(stage.run_bare(own_malloc).out == "memory of its own: 1\n");
  CHECK(run_loudly(stage, own_malloc) == stage.run_bare(own_malloc));
  CHECK_FALSE(std::filesystem::exists(stage.folder() / "gpumem"));
  CHECK_FALSE(std::filesystem::exists(stage.journals()));
}

TEST_CASE("silent: a compiler builds the same program") {
  Stage stage;
  write_text(stage.folder() / "hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n");
  const auto outcome = run_loudly(stage, {"gcc", "-o", "hello", "hello.c"});
  INFO(outcome);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  CHECK(run_loudly(stage, {stage.folder() / "hello"}).out == "hello\n");
  CHECK_FALSE(std::filesystem::exists(stage.journals()));
  CHECK_FALSE(std::filesystem::exists(stage.folder() / "gpumem"));
}

TEST_CASE("silent: the shim is really loaded in these tests") {
  Stage stage;
  const auto outcome = run_loudly(stage, {"sh", "-c", "grep -c libgpumemshim /proc/self/maps"});
  CHECK(outcome.out != "0\n");
  CHECK(outcome.status == 0);
}
