// TensorFlow from PyPI, started over the simulated stack and over NVIDIA's own runtimes. See docs/FRAMEWORKS.md.
#include <regex>

#include "genuine.hpp"

namespace gpumem::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Release {
  std::string version, cuda;
  std::string context_fails;  // what it says where there is no context to be had
};
const std::vector<Release> releases{
    {"2.5", "cuda-11", "CUDA runtime implicit initialization on GPU:0"},
    {"2.21", "cuda-12", "cudaSetDevice() on GPU:0"},
};

std::filesystem::path frameworks() { return build_folder() / "frameworks"; }

std::string missing_tensorflow() {
  for (const auto& release : releases) {
    const auto folder = frameworks() / ("tensorflow-" + release.version);
    if (!std::filesystem::exists(folder / ".made"))
      return "no TensorFlow " + release.version + ", see scripts/frameworks";
  }
  return {};
}

// Times, and thread numbers beside them, at the beginning of its lines, and addresses.
std::string without_times(const std::string& text) {
  static const std::regex changing(R"((^|\n)([0-9-]{10} [0-9:.]+: |([IWEF])[0-9]{4} [0-9:.]+ +[0-9]+ )|0x[0-9a-f]+)");
  return std::regex_replace(text, changing, "$1$3");
}

// TensorFlow over the genuine runtime, or the simulated one, of the CUDA that it was built for.
Outcome start_tensorflow(Stage& stage, const Release& release, bool genuine_runtime) {
  std::string path = genuine_runtime ? "" : simulated_folder().string();
  for (const auto& library : std::filesystem::directory_iterator(frameworks() / release.cuda / "packages/nvidia"))
    path += (path.empty() ? "" : ":") + (library.path() / "lib").string();
  stage.set("LD_LIBRARY_PATH", path + ":" + simulated_folder().string()).set("PYTHONDONTWRITEBYTECODE", "1");
  const std::vector<std::string> argv{frameworks() / ("tensorflow-" + release.version) / "bin/python",
                                      python_program("tensorflow_start.py")};
  const auto bare = stage.run_bare(argv), traced = stage.run_traced(argv);
  INFO(bare);
  INFO(traced);
  CHECK(contains(bare.out, "TensorFlow " + release.version + "."));
  CHECK(contains(bare.out, "1 GPUs found\n"));
  CHECK(traced.status == bare.status);
  CHECK(traced.out == bare.out);
  CHECK(without_times(traced.err) == without_times(bare.err));
  return bare;
}

Line refusing(const std::string& call, int nth) {
  return {{"driver_version", 12050}, {"rules", {{{"call", call}, {"nth", nth}, {"code", 2}}}}};
}

void check_start_failure(const Stage& stage, const std::string& words) {
  const auto journal = stage.journal();
  REQUIRE_FALSE(journal.failures().empty());
  const auto first = journal.failures()[0];
  CHECK(first.at("code") == 2);
  CHECK(first.value("first", false));
  CHECK(first.value("start", false));
  const auto report = failures_in_one_line(stage);
  INFO(report);
  CHECK(contains(report, "First failing call: " + words));
  CHECK(contains(report, "called by <module> (tensorflow_start.py:9)"));
  CHECK(contains(report, "CUDA did not start"));
}

}  // namespace
}  // namespace gpumem::test

using namespace gpumem::test;

TEST_CASE("tensorflow itself: fails inside the genuine runtime") {
  NEEDS(scripted_driver);
  NEEDS_PART(missing_tensorflow());
  for (const auto& release : releases) {
    INFO(release.version);
    Stage stage;
    stage.script(refusing("cuInit", 2));
    const auto outcome = start_tensorflow(stage, release, true);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.out, "\ncudaGetDevice() failed. Status: out of memory\n"));
    check_start_failure(stage, "cudaGetDevice failed with 2 (cudaErrorMemoryAllocation), because cuInit returned 2");
  }
}

TEST_CASE("tensorflow itself: gets no context") {
  NEEDS(scripted_driver);
  NEEDS_PART(missing_tensorflow());
  for (const auto& release : releases) {
    INFO(release.version);
    Stage stage;
    stage.script(refusing("cuDevicePrimaryCtxRetain", 1));
    const auto outcome = start_tensorflow(stage, release, false);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.out, "\n" + release.context_fails + " failed. Status: out of memory\n"));
    check_start_failure(stage,
                        release.context_fails[1] == 'U' ? "cudaFree failed with 2" : "cudaSetDevice failed with 2");
  }
}

TEST_CASE("tensorflow itself: takes most of the device's memory at once") {
  NEEDS(driver);
  NEEDS_PART(missing_tensorflow());
  for (const auto& release : releases) {
    INFO(release.version);
    Stage stage;
    stage.script({{"driver_version", 12050}});
    const auto outcome = start_tensorflow(stage, release, false);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.out, "1 devices made\n/job:localhost/replica:0/task:0/device:GPU:0\n"));
    const auto blocks = stage.journal().allocations("device");
    REQUIRE(blocks.size() == 1);
    const std::uint64_t bytes = blocks[0].at("n"), gib = 1ull << 30;
    CHECK(bytes > 13 * gib);
    const auto report = stage.gpumem({"peak", stage.journals()});
    INFO(report);
    CHECK(contains(report.out, "<module> (tensorflow_start.py:13)"));
  }
}
