// The kernel's log, the host's memory and CUDA's libraries, as the probe reads them from made-up texts and folders.
#include "catch.hpp"
#include "made_up_root.hpp"
#include "probe/cuda_libraries.hpp"
#include "probe/host_memory.hpp"
#include "probe/kernel_log.hpp"

using namespace gpumem;
using gpumem::test::MadeUpRoot;
using nlohmann::ordered_json;

TEST_CASE("of the kernel's log the lines about the driver, suspends and lack of memory are told") {
  const std::string log =
      "<6>[    1.500000] usb 1-1: new device\n"
      "<3>[   10.000000] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
      "<3>[   11.000000][  T412] NVRM: API mismatch: the client has version 1, but this module has 2\n"
      "<6>[   12.250000] nvidia-uvm: Loaded the UVM driver\n"
      "<3>[   13.000000] Out of memory: Killed process 99 (python) total-vm:1kB\n"
      "<6>[   14.000000] [drm] something else\n"
      "<6>[   15.000000] [drm] nvidia-drm ready\n";
  const auto lines = lines_that_matter(log, 20);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == ordered_json{{"seconds_ago", 10.0},
                                 {"text", "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus."}});
  CHECK(lines[1]["text"] == "NVRM: API mismatch: the client has version 1, but this module has 2");
  CHECK(lines[1]["seconds_ago"] == 9.0);
  CHECK(lines[2]["seconds_ago"] == 7.75);
  CHECK(lines[3]["text"] == "Out of memory: Killed process 99 (python) total-vm:1kB");
  CHECK(lines[4]["text"] == "[drm] nvidia-drm ready");
}

TEST_CASE("of many lines the newest are told, the latest last") {
  std::string log;
  for (int i = 0; i < 100; ++i) log += "<6>[" + std::to_string(i) + ".0] NVRM: " + std::to_string(i) + "\n";
  const auto lines = lines_that_matter(log, 100);
  REQUIRE(lines.size() == 20);
  CHECK(lines[0]["text"] == "NVRM: 80");
  CHECK(lines[19]["seconds_ago"] == 1.0);
}

TEST_CASE("lines without a time, and ones that were cut, are told as they are") {
  const auto lines = lines_that_matter("<6>NVRM: without a time\n[ 3.5 nvidia cut", 9);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == ordered_json{{"seconds_ago", nullptr}, {"text", "NVRM: without a time"}});
  CHECK(lines[1] == ordered_json{{"seconds_ago", nullptr}, {"text", "[ 3.5 nvidia cut"}});
}

TEST_CASE("the last resume in the kernel's log tells how long ago it was") {
  const std::string log =
      "<6>[   10.000000] PM: suspend entry (deep)\n"
      "<6>[   20.000000] PM: suspend exit\n"
      "<6>[   30.500000] PM: hibernation: hibernation exit\n"
      "<6>[   40.000000] PM: suspend entry (deep)\n";
  CHECK(seconds_since_resume(log, 50) == 19.5);
  CHECK(lines_that_matter(log, 50).size() == 2);
  CHECK_FALSE(seconds_since_resume("<6>[   10.0] PM: suspend entry (deep)\n", 50));
  CHECK_FALSE(seconds_since_resume("", 50));
}

TEST_CASE("the host's memory is told in bytes, with what it promises") {
  const MadeUpRoot root;
  root.put("proc/meminfo",
           "MemTotal:       2000 kB\nMemFree:  1 kB\nMemAvailable:   1000 kB\nSwapFree:  0 kB\n"
           "CommitLimit:    3000 kB\nCommitted_AS:   4000 kB\n");
  root.put("proc/sys/vm/overcommit_memory", "2\n");
  CHECK(host_memory(root.path()) == ordered_json{{"total_bytes", 2048000},
                                                 {"available_bytes", 1024000},
                                                 {"swap_free_bytes", 0},
                                                 {"overcommit", 2},
                                                 {"commit_limit_bytes", 3072000},
                                                 {"committed_bytes", 4096000},
                                                 {"reason", nullptr}});
  const auto unknown = host_memory(MadeUpRoot().path());
  CHECK(unknown["total_bytes"].is_null());
  CHECK(unknown["overcommit"].is_null());
  CHECK(unknown["reason"] == "ENOENT");
}

TEST_CASE("CUDA's libraries are told in the order of the search path, then of the usual folders") {
  const MadeUpRoot root;
  root.put("mine/libcudart.so.12", "");
  root.put("mine/libcublas.so.12", "");
  root.put("usr/lib/x86_64-linux-gnu/libcuda.so.550.1", "");
  root.link("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.550.1");
  root.put("usr/local/cuda-12.4/compat/libcuda.so.1", "");
  root.link("usr/local/cuda-12.4/lib64/libcudart.so.12", "gone");
  const auto libraries = cuda_libraries(
      root.path(), (root / "empty").string() + ":" + (root / "mine").string() + ";" + (root / "mine").string());
  const auto real = std::filesystem::canonical(root.path());
  REQUIRE(libraries.size() == 4);
  CHECK(libraries[0] == ordered_json{{"path", (root / "mine/libcudart.so.12").string()},
                                     {"target", (real / "mine/libcudart.so.12").string()}});
  CHECK(libraries[1] == ordered_json{{"path", (root / "usr/lib/x86_64-linux-gnu/libcuda.so.1").string()},
                                     {"target", (real / "usr/lib/x86_64-linux-gnu/libcuda.so.550.1").string()}});
  CHECK(libraries[2] ==
        ordered_json{{"path", (root / "usr/local/cuda-12.4/lib64/libcudart.so.12").string()}, {"target", nullptr}});
  CHECK(libraries[3]["path"] == (root / "usr/local/cuda-12.4/compat/libcuda.so.1").string());
}

TEST_CASE("of very many of CUDA's libraries a bounded number is told") {
  const MadeUpRoot root;
  for (int i = 0; i < 200; ++i) root.put("usr/lib/libcudart.so." + std::to_string(i), "");
  CHECK(cuda_libraries(root.path(), "").size() == 128);
}

TEST_CASE("an empty part of the search path is the working directory") {
  const MadeUpRoot root, elsewhere;
  root.put("libcudart.so.9", "");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(root.path());
  const auto libraries = cuda_libraries(elsewhere.path(), ":/nowhere");
  std::filesystem::current_path(before);
  REQUIRE(libraries.size() == 1);
  CHECK(libraries[0]["path"] == "./libcudart.so.9");
}
