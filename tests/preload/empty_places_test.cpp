// Next to nothing around the program: no environment, no /proc, no /tmp, no other file.
#include <unistd.h>

#include <sstream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

// A folder that holds programs and the files that they cannot do without, and nothing else.
class EmptyContainer {
 public:
  void add(const std::filesystem::path& file, const std::string& name) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::filesystem::copy_file(file, root_ / name);
    const auto listed = run({{"ldd", file}, plain_environment()});
    std::istringstream words(listed.out);
    for (std::string word; words >> word;) {
      if (word[0] != '/' || word.find(':') != std::string::npos) continue;
      const auto target = root_.path() / word.substr(1);
      std::filesystem::create_directories(target.parent_path());
      if (!std::filesystem::exists(target)) std::filesystem::copy_file(word, target);
      if (word.find("/ld-linux") != std::string::npos) loader_ = word;
    }
  }

  // With the loader's own option instead of LD_PRELOAD, which would also be for chroot itself.
  Outcome start(std::vector<std::string> argv, bool traced, const Environment& environment = {}) const {
    std::vector<std::string> full = {"chroot", root_.path(), loader_};
    if (traced) full.insert(full.end(), {"--preload", "/libgpumemshim.so"});
    full.insert(full.end(), argv.begin(), argv.end());
    auto with_path = environment;
    with_path["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin";
    return run({full, with_path});
  }

  std::filesystem::path path() const { return root_.path(); }

 private:
  ScratchFolder root_;
  std::string loader_;
};

#define NEEDS_ROOT()                              \
  if (geteuid() != 0) {                           \
    skipped("chroot is for the superuser alone"); \
    return;                                       \
  }

}  // namespace

TEST_CASE("empty places: true in a container that holds nothing else") {
  NEEDS_ROOT();
  EmptyContainer container;
  container.add("/bin/true", "true");
  container.add(shim(), "libgpumemshim.so");
  const auto bare = container.start({"/true"}, false);
  CHECK(bare.status == 0);
  CHECK(container.start({"/true"}, true) == bare);
  CHECK(container.start({"--list", "/true"}, true).out.find("/libgpumemshim.so") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(container.path() / "gpumem"));
}

TEST_CASE("empty places: a program that uses CUDA in a container without /proc, /tmp and shells") {
  NEEDS_ROOT();
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  Stage stage;
  EmptyContainer container;
  container.add(program("route_lookup"), "route_lookup");
  container.add(shim(), "libgpumemshim.so");
  container.add(stage.bare_environment().at("LD_LIBRARY_PATH") + "/libcuda.so.1", "cuda/libcuda.so.1");
  container.add("/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", "cuda/libgcc_s.so.1");
  const Environment environment = {{"LD_LIBRARY_PATH", "/cuda"}, {"GPUMEM_QUIET", "1"}};
  const auto bare = container.start({"/route_lookup", "dlsym"}, false, environment);
  INFO(bare);
  CHECK(bare.status == 0);
  CHECK(container.start({"/route_lookup", "dlsym"}, true, environment) == bare);
  const auto journal = read_only_journal(container.path() / "gpumem");
  CHECK(journal.allocations_of(10007).size() == 1);
  CHECK(journal.has_end());
}

TEST_CASE("empty places: every function with an environment that holds nothing but the shim") {
  NEEDS(scripted_driver);
  Stage stage;
  const Environment nothing = {{"LD_LIBRARY_PATH", stage.bare_environment().at("LD_LIBRARY_PATH")}};
  auto traced = nothing;
  traced["LD_PRELOAD"] = shim();
  for (const char* name : {"conformance_driver", "conformance_runtime"}) {
    const auto bare = stage.run({{program(name)}, nothing}), with_shim = stage.run({{program(name)}, traced});
    CHECK(bare.status == 0);
    CHECK(with_shim.status == bare.status);
    CHECK(with_shim.out == bare.out);
    CHECK(with_shim.err.find("gpumem: ") == 0);
  }
  CHECK(read_journals(stage.folder() / "gpumem").size() == 2);
}
