// The journal's file or disk fails in every way that there is: the program does not notice.
#include <signal.h>

#include <fstream>
#include <functional>
#include <thread>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

// Runs the program with what happens to its journals once they are there.
Outcome run_while(const Stage& stage, std::vector<std::string> argv,
                  const std::function<void(const std::filesystem::path&)>& happens) {
  return stage.run({std::move(argv), stage.traced_environment(), {}, std::chrono::seconds(120), [&](int) {
                      for (int waited = 0; waited < 5000; ++waited) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        std::error_code ignored;
                        if (std::filesystem::exists(stage.journals(), ignored) &&
                            !std::filesystem::is_empty(stage.journals(), ignored))
                          break;
                      }
                      std::this_thread::sleep_for(std::chrono::milliseconds(30));
                      happens(stage.journals());
                    }});
}

void for_each_file(const std::filesystem::path& folder, const std::function<void(const std::filesystem::path&)>& act) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) act(entry.path());
}

// In a mount namespace of its own, with a file system of that kind on the folder of the journals.
std::vector<std::string> with_disk(const Stage& stage, const std::string& mount, std::vector<std::string> argv) {
  std::filesystem::create_directories(stage.journals());
  std::vector<std::string> all{"unshare", "-m", "sh", "-c", mount + " || exit 77; exec \"$@\"", "sh"};
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

// False where such a disk cannot be had: the test is then said to be skipped.
bool has_disk(const Stage& stage, const std::string& mount) {
  const auto tried = stage.run_bare(with_disk(stage, mount, {"true"}));
  if (tried.status == 0) return true;
  skipped("no such file system can be mounted here: " + mount + ": " + tried.err);
  return false;
}

void check_unharmed_on(const std::string& options, std::vector<std::string> argv) {
  Stage stage;
  const std::string mount = "mount -t tmpfs -o " + options + " none " + stage.journals().string();
  if (!has_disk(stage, mount)) return;
  const auto bare = stage.run_bare(with_disk(stage, mount, argv));
  REQUIRE(bare.status == 0);
  for (const char* mapped : {"1", "0"}) {
    stage.set("GPUMEM_MAP_JOURNAL", mapped);
    CHECK(stage.run_traced(with_disk(stage, mount, argv)) == bare);
  }
}

}  // namespace

TEST_CASE("hostile disks: a full one") {
  NEEDS(driver);
  NEEDS(nvcc);
  check_unharmed_on("size=1m", {program("churn"), "40000", "100"});
}

TEST_CASE("hostile disks: one that is full from the start") {
  NEEDS(driver);
  NEEDS(nvcc);
  check_unharmed_on("size=4k", {program("churn"), "1000", "100"});
}

TEST_CASE("hostile disks: a quota") {
  NEEDS(driver);
  NEEDS(nvcc);
  check_unharmed_on("usrquota,usrquota_block_hardlimit=300k", {program("churn"), "40000", "100"});
}

TEST_CASE("hostile disks: one that can only be read") {
  NEEDS(driver);
  NEEDS(nvcc);
  check_unharmed_on("ro", {program("churn"), "1000", "100"});
}

TEST_CASE("hostile disks: the folder is deleted while the program runs") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* mapped : {"1", "0"}) {
    Stage stage;
    stage.set("GPUMEM_JOURNAL_MAX", "1M").set("GPUMEM_MAP_JOURNAL", mapped);
    const std::vector<std::string> argv{program("churn"), "40000", "100"};
    const auto outcome = run_while(stage, argv, [](const auto& folder) {
      std::error_code ignored;
      for (int i = 0; i < 100 && std::filesystem::exists(folder); ++i) std::filesystem::remove_all(folder, ignored);
    });
    CHECK(outcome == stage.run_bare(argv));
  }
}

TEST_CASE("hostile disks: a file is cut while calls of every fifty microseconds are recorded") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_JOURNAL_MAX", "8M");
  const std::vector<std::string> argv{program("churn"), "12000", "100", "50"};
  const auto outcome = run_while(stage, argv, [](const auto& folder) {
    for_each_file(folder, [](const auto& file) { std::filesystem::resize_file(file, 4096); });
  });
  CHECK(outcome == stage.run_bare(argv));
  // It has gone on in the next segment, which can be read without the first.
  const auto journal = stage.journal();
  CHECK(journal.lines.back().at("t") == "end");
  CHECK(journal.of_type("checkpoint").at(0).at("dropped").at("segments") == 1);
  CHECK(journal.of_type("process").back().at("segment") >= 1);
}

TEST_CASE("hostile disks: a file is cut again and again while calls are recorded at full speed, written by calls") {
  NEEDS(driver);
  NEEDS(nvcc);
  Stage stage;
  stage.set("GPUMEM_MAP_JOURNAL", "0");
  const std::vector<std::string> argv{program("churn"), "60000", "100"};
  const auto outcome = run_while(stage, argv, [](const auto& folder) {
    for (int i = 0; i < 50; ++i) {
      for_each_file(folder, [](const auto& file) { std::filesystem::resize_file(file, 0); });
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  CHECK(outcome == stage.run_bare(argv));
}

TEST_CASE("hostile disks: without a limit that the journal may reach, descriptors to be had, or a file size") {
  NEEDS(driver);
  NEEDS(nvcc);
  for (const char* limit : {"ulimit -f 100", "ulimit -f 0", "ulimit -n 8", "ulimit -n 16"}) {
    INFO(limit);
    Stage stage;
    stage.set("GPUMEM_JOURNAL_MAX", "1M");
    const std::vector<std::string> argv{"sh",    "-c", std::string(limit) + "; exec \"$@\"", "sh", program("churn"),
                                        "20000", "100"};
    const auto bare = stage.run_bare(argv);
    CHECK(stage.run_traced(argv) == bare);
  }
}
