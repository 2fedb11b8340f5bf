#include "journal/journal.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "journal/folder.hpp"
#include "scratch_folder.hpp"

using namespace gpumem;
using gpumem::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string without_padding(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
  return text;
}

}  // namespace

TEST_CASE("a journal is private, exclusive and follows no link") {
  const ScratchFolder folder;
  auto journal = std::make_unique<Journal>();
  REQUIRE(journal->create((folder / "a").c_str(), 1 << 20));
  struct stat status {};
  REQUIRE(stat((folder / "a").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  auto second = std::make_unique<Journal>();
  CHECK_FALSE(second->create((folder / "a").c_str(), 1 << 20));
  CHECK(errno == EEXIST);
  REQUIRE(symlink((folder / "target").c_str(), (folder / "link").c_str()) == 0);
  CHECK_FALSE(second->create((folder / "link").c_str(), 1 << 20));
  CHECK_FALSE(fs::exists(folder / "target"));
}

TEST_CASE("lines are in the file at once, and nothing else is once it is trimmed") {
  const ScratchFolder folder;
  auto journal = std::make_unique<Journal>();
  REQUIRE(journal->create((folder / "a").c_str(), 1 << 20));
  CHECK(journal->append("one\n"));
  CHECK(without_padding(content(folder / "a")) == "one\n");
  journal->trim();
  CHECK(content(folder / "a") == "one\n");
  CHECK(journal->append("two\n"));
  CHECK(without_padding(content(folder / "a")) == "one\ntwo\n");
}

TEST_CASE("threads' lines are whole, and all there, through growth") {
  const ScratchFolder folder;
  auto journal = std::make_unique<Journal>();
  REQUIRE(journal->create((folder / "a").c_str(), 64 << 20));
  constexpr int threads = 4, lines = 20000;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (int i = 0; i < lines; ++i)
        journal->append(std::string(static_cast<std::size_t>(20 + i % 90), static_cast<char>('a' + t)) + "\n");
    });
  for (std::thread& worker : workers) worker.join();
  journal->trim();
  std::istringstream text(content(folder / "a"));
  std::vector<int> counts(threads);
  for (std::string line; std::getline(text, line);) {
    REQUIRE(line.find_first_not_of(line[0]) == std::string::npos);
    ++counts[static_cast<std::size_t>(line[0] - 'a')];
  }
  CHECK(counts == std::vector<int>(threads, lines));
}

TEST_CASE("a full journal refuses lines but keeps room for essential ones") {
  const ScratchFolder folder;
  auto journal = std::make_unique<Journal>();
  REQUIRE(journal->create((folder / "a").c_str(), 256 * 1024));
  const std::string line(999, 'x');
  int taken = 0;
  while (journal->append(line + "\n")) ++taken;
  CHECK(taken > 200);
  CHECK(taken <= 256);
  CHECK_FALSE(journal->append(line + "\n"));
  int notable = 0;
  while (journal->append(line + "\n", Journal::Importance::notable)) ++notable;
  CHECK(notable > 5);
  CHECK(journal->append(line + "\n", Journal::Importance::essential));
  CHECK(journal->append("end\n", Journal::Importance::essential));
  journal->trim();
  CHECK(content(folder / "a").size() == static_cast<std::size_t>(taken + notable + 1) * 1000 + 4);
}

TEST_CASE("a file size limit costs lines, not the process") {
  const ScratchFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{100 * 1024, 100 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto journal = std::make_unique<Journal>();
    if (!journal->create((folder / "a").c_str(), 1 << 20)) _exit(1);
    int taken = 0;
    while (taken < 10000 && journal->append("0123456789012345678901234567890123456789\n")) ++taken;
    _exit(taken > 500 && taken < 10000 ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a journal that was moved away and replaced is not grown into the other file") {
  const ScratchFolder folder;
  auto journal = std::make_unique<Journal>();
  REQUIRE(journal->create((folder / "a").c_str(), 1 << 20));
  fs::rename(folder / "a", folder / "moved");
  std::ofstream(folder / "a") << "somebody else's";
  while (journal->append("0123456789012345678901234567890123456789\n")) {
  }
  CHECK(content(folder / "a") == "somebody else's");
  CHECK(without_padding(content(folder / "moved")).size() > 40000);
}

TEST_CASE("no descriptor stays open") {
  const ScratchFolder folder;
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  auto journal = std::make_unique<Journal>();
  REQUIRE(journal->create((folder / "a").c_str(), 8 << 20));
  for (int i = 0; i < 100000; ++i) journal->append("0123456789012345678901234567890\n");
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  CHECK(after == before);
}

TEST_CASE("the folder is the given one, made if need be; names count up") {
  const ScratchFolder folder;
  JournalName name{"ho st/x", 42, 77, 0};
  auto first = std::make_unique<Journal>();
  auto second = std::make_unique<Journal>();
  REQUIRE(create_journal(*first, name, (folder / "new").string(), 1 << 20));
  CHECK(first->path() == folder / "new/gpumem-ho_st_x-42-77-0.0.jsonl");
  REQUIRE(create_journal(*second, name, (folder / "new").string(), 1 << 20));
  CHECK(name.n == 1);
}

TEST_CASE("where the given folder cannot be written, a private one under TMPDIR serves") {
  const ScratchFolder folder;
  std::ofstream(folder / "file") << "not a folder";
  setenv("TMPDIR", folder.path().c_str(), 1);
  JournalName name{"h", 1, 2, 0};
  auto journal = std::make_unique<Journal>();
  REQUIRE(create_journal(*journal, name, (folder / "file").string(), 1 << 20));
  const std::string private_folder = folder / ("gpumem-" + std::to_string(geteuid()));
  CHECK(std::string(journal->path()).rfind(private_folder, 0) == 0);
  struct stat status {};
  REQUIRE(stat(private_folder.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);

  chmod(private_folder.c_str(), 0777);
  auto refused = std::make_unique<Journal>();
  CHECK_FALSE(create_journal(*refused, name, (folder / "file").string(), 1 << 20));
  unsetenv("TMPDIR");
}
