// Systems older than the one that the shim was built on, and parts of such systems inside a newer one.
#include <algorithm>

#include "genuine.hpp"

using namespace gpumem::test;

namespace {

// argv for a program of Debian 11, which is run by that system's loader and with its libraries.
std::vector<std::string> on_debian_11(const std::string& file, const std::vector<std::string>& arguments) {
  const auto root = genuine_system("debian-11").string(), libraries = root + "/lib/x86_64-linux-gnu";
  const auto path = libraries + ":" + root + "/usr/lib/x86_64-linux-gnu:" + program("plain_driver");
  std::vector<std::string> argv{libraries + "/ld-linux-x86-64.so.2", "--library-path", path, root + file};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

std::vector<std::string> on_32_bits(const std::vector<std::string>& arguments) {
  const auto root = genuine_system("debian-12-i386").string();
  std::vector<std::string> argv{root + "/lib/ld-linux.so.2", "--library-path", root + "/lib/i386-linux-gnu",
                                root + "/bin/busybox"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The libraries that conda and others put before the system's: those of GCC 10, from Debian 11.
void put_old_libraries_in_front(Stage& stage) {
  const auto root = genuine_system("debian-11"), folder = stage.folder() / "old";
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(root / "usr/lib/x86_64-linux-gnu/libstdc++.so.6", folder / "libstdc++.so.6");
  std::filesystem::create_symlink(root / "lib/x86_64-linux-gnu/libgcc_s.so.1", folder / "libgcc_s.so.1");
  stage.set("LD_LIBRARY_PATH", folder.string() + ":" + stage.bare_environment().at("LD_LIBRARY_PATH"));
}

}  // namespace

TEST_CASE("old systems: programs of Debian 11 run with its own loader and C library") {
  NEEDS_PART(missing_system("debian-11"));
  Stage stage(Cuda::none);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"true"}, {"false"}, {"sh", "-c", "echo a | cat; (exit 3)"}, {"grep", "-c", "gpumemshim", "/dev/null"}}) {
    INFO(arguments[0]);
    const auto argv = on_debian_11("/bin/busybox", arguments);
    CHECK(stage.run_traced(argv) == stage.run_bare(argv));
  }
  CHECK(stage.run_traced(on_debian_11("/bin/busybox", {"grep", "-q", "gpumemshim", "/proc/self/maps"})).status == 0);
  CHECK_FALSE(std::filesystem::exists(stage.journals()));
}

TEST_CASE("old systems: a session of Debian 11's Python is recorded and reported") {
  NEEDS_PART(missing_system("debian-11"));
  Stage stage(Cuda::none);
  stage.set("PYTHONHOME", genuine_system("debian-11") / "usr").set("PYTHONDONTWRITEBYTECODE", "1");
  const auto argv = on_debian_11("/usr/bin/python3.9", {"-S", python_program("ctypes_session.py")});
  const auto bare = stage.run_bare(argv);
  INFO(bare);
  CHECK(bare.status == 0);
  CHECK(contains(bare.out, "glibc 2.31\n"));
  CHECK(stage.run_traced(argv) == bare);
  int parents = 0, children = 0;
  for (const auto& journal : read_journals(stage.journals())) {
    parents += journal.allocations_of(10007).size() == 1 && journal.allocations_of(40009).size() == 1 &&
               journal.live_at_end().size() == 2 && journal.events("free").size() == 1 &&
               journal.failures().size() == 1 && journal.has_end();
    children += journal.allocations_of(20011).size() == 1;
    // Frames of the interpreter, so the stack was walked with that system's libgcc_s.
    const auto modules = journal.modules_of_stack(journal.allocations().at(0).at("s"));
    CHECK(std::count(modules.begin(), modules.end(), genuine_system("debian-11") / "usr/bin/python3.9") > 0);
  }
  CHECK(parents == 1);
  CHECK(children == 1);
  const auto report = stage.gpumem({"report", stage.journals()});
  INFO(report);
  CHECK(report.status == 0);
  CHECK(contains(report.out, "Live at the end  2 blocks"));
}

TEST_CASE("old systems: an older C++ library before the system's, for the program and for gpumem") {
  NEEDS(driver);
  NEEDS_PART(missing_system("debian-11"));
  Stage stage;
  put_old_libraries_in_front(stage);
  auto listing = stage.bare_environment();
  listing["LD_TRACE_LOADED_OBJECTS"] = "1";
  CHECK(contains(stage.run({{demo()}, listing}).out, (stage.folder() / "old/libstdc++.so.6").string()));

  const auto bare = stage.run_bare({demo()});
  CHECK(bare.status == 0);
  CHECK(stage.run_traced({demo()}) == bare);
  CHECK(stage.journal().has_end());

  const auto under = stage.gpumem({"run", "-o", stage.folder() / "run", "--quiet", "--", demo()});
  CHECK(under == bare);
  const auto report = stage.gpumem({"report", stage.folder() / "run"});
  INFO(report);
  CHECK(report.status == 0);
  CHECK(contains(report.out, "make_activations (demo.cpp:"));
}

TEST_CASE("old systems: a 32-bit program that a recorded one starts") {
  NEEDS(driver);
  NEEDS_PART(missing_system("debian-12-i386"));
  Stage stage;
  const auto child = on_32_bits({"sh", "-c", "echo child; exit 7"});
  if (stage.run_bare(child).status != 7) return skipped("this kernel runs no 32-bit programs");
  // The demonstration, then the child, in one shell.
  std::vector<std::string> argv{"sh", "-c", "\"$0\" 2> /dev/null; \"$@\"", demo()};
  argv.insert(argv.end(), child.begin(), child.end());
  const auto bare = stage.run_bare(argv);
  CHECK(contains(bare.out, "child\n"));
  CHECK(bare.status == 7);

  const auto traced = stage.run_traced(argv);
  CHECK(traced.out == bare.out);
  CHECK(traced.status == bare.status);
  // What that program's loader says of LD_PRELOAD is not ours to prevent.
  CHECK(contains(traced.err, "wrong ELF class: ELFCLASS64): ignored"));
  CHECK(std::count(traced.err.begin(), traced.err.end(), '\n') == 1);
  CHECK(stage.journal().has_end());

  stage.set("GPUMEM_CHILDREN", "0");
  CHECK(stage.run_traced(argv) == bare);
}
