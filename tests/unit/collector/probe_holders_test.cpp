// Who has the driver's device files open, in a made-up /proc.
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "made_up_root.hpp"
#include "probe/holders.hpp"
#include "probe/services.hpp"
#include "stage.hpp"

using namespace gpumem;
using gpumem::test::MadeUpRoot;
using nlohmann::ordered_json;

namespace {

constexpr int parent = 4000000;

void put_process(const MadeUpRoot& root, int pid, const std::string& name, const std::string& state = "S",
                 const std::string& flags = "0") {
  const std::string folder = "proc/" + std::to_string(pid);
  root.put(folder + "/comm", name + "\n");
  root.put(folder + "/cmdline", "/bin/" + name + std::string(1, '\0') + "x");
  root.put(folder + "/stat", std::to_string(pid) + " (" + name + ") " + state + " " + std::to_string(parent) +
                                 " 0 0 0 0 " + flags + " 0 0 0 0 0 0 0 0 0 0 0 0 777 0");
  std::filesystem::create_directories(root / (folder + "/fd"));
}

void open_file(const MadeUpRoot& root, const std::string& process, int file, const std::string& target) {
  root.link("proc/" + process + "/fd/" + std::to_string(file), target);
}

ordered_json told_of(const MadeUpRoot& root) {
  const auto told = run_sections(
      {[&root](Findings& findings) { tell_holders(findings, scan_processes(root / "proc"), root / "proc"); }},
      std::chrono::seconds(60));
  REQUIRE(told[0]["status"] == "ok");
  return told[0];
}

// A process's open files that this user may not look at.
class Forbidden {
 public:
  explicit Forbidden(std::filesystem::path folder) : folder_(std::move(folder)) { ::chmod(folder_.c_str(), 0); }
  ~Forbidden() { ::chmod(folder_.c_str(), 0700); }
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;

 private:
  std::filesystem::path folder_;
};

// For a test of what a user may not do.
class Nobody {
 public:
  Nobody() : before_(::geteuid()) { is_one_ = before_ != 0 || ::seteuid(65534) == 0; }
  ~Nobody() {
    if (before_ == 0 && ::seteuid(0) != 0) std::abort();
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
  bool is_one() const { return is_one_; }

 private:
  uid_t before_;
  bool is_one_;
};

}  // namespace

TEST_CASE("holders are found by open device files, each file told once") {
  const MadeUpRoot root;
  put_process(root, 12, "idle");
  open_file(root, "12", 0, "/dev/null");
  put_process(root, 130, "train");
  open_file(root, "130", 3, "/dev/nvidia0");
  open_file(root, "130", 4, "/dev/nvidia-uvm");
  open_file(root, "130", 5, "/dev/nvidia0");
  const auto told = told_of(root);
  REQUIRE(told["holders"].size() == 1);
  const auto& holder = told["holders"][0];
  CHECK(holder["pid"] == 130);
  CHECK(holder["ppid"] == parent);
  CHECK(holder["name"] == "train");
  CHECK(holder["command"] == ordered_json{"/bin/train", "x"});
  CHECK(holder["start_ticks"] == 777);
  CHECK(holder["state"] == "S");
  CHECK(holder["files"] == ordered_json{"/dev/nvidia-uvm", "/dev/nvidia0"});
  CHECK(told["holders_unreadable"] == 0);
  CHECK(told["holders_left_out"] == 0);
  CHECK(told["mappings_unread"] == 0);
}

TEST_CASE("a device file that is mapped and no longer open makes a holder") {
  const MadeUpRoot root;
  put_process(root, 7, "mapper");
  root.put("proc/7/maps",
           "7f00-7f01 r-xp 00000000 00:01 5 /usr/lib/libcuda.so.1\n"
           "7f02-7f03 rw-s 00000000 00:06 9 /dev/nvidiactl\n");
  const auto told = told_of(root);
  REQUIRE(told["holders"].size() == 1);
  CHECK(told["holders"][0]["files"] == ordered_json{"/dev/nvidiactl"});
}

TEST_CASE("a process whose first thread has ended holds by its other threads") {
  const MadeUpRoot root;
  put_process(root, 9, "ending", "Z");
  std::filesystem::create_directories(root / "proc/9/task/9/fd");
  open_file(root, "9/task/11", 3, "/dev/nvidia1");
  const auto told = told_of(root);
  REQUIRE(told["holders"].size() == 1);
  CHECK(told["holders"][0]["state"] == "Z");
  CHECK(told["holders"][0]["files"] == ordered_json{"/dev/nvidia1"});
}

TEST_CASE("holders beyond the most that are told are counted") {
  const MadeUpRoot root;
  for (int pid = 1; pid <= 300; ++pid) {
    put_process(root, pid, "many");
    open_file(root, std::to_string(pid), 3, "/dev/nvidia0");
  }
  const auto told = told_of(root);
  CHECK(told["holders"].size() == 256);
  CHECK(told["holders_left_out"] == 44);
}

TEST_CASE("processes whose open files may not be looked at are counted, but for the kernel's own") {
  const MadeUpRoot root;
  put_process(root, 2, "kthreadd", "S", "2129984");
  put_process(root, 3, "another_user");
  const Forbidden kernels(root / "proc/2/fd"), others(root / "proc/3/fd");
  ::chmod(root.path().c_str(), 0755);
  const Nobody user;
  if (!user.is_one()) return gpumem::test::skipped("may not become another user");
  CHECK(told_of(root)["holders_unreadable"] == 1);
}

TEST_CASE("without processes to be seen there are no holders") {
  const MadeUpRoot root;
  const auto told = told_of(root);
  CHECK(told["holders"].empty());
  CHECK(told["holders_unreadable"] == 0);
}

TEST_CASE("services are found by the name that the kernel keeps") {
  const MadeUpRoot root;
  put_process(root, 21, "nvidia-cuda-mps");
  put_process(root, 22, "nvidia-cuda-mps");
  put_process(root, 23, "nv-fabricmanage");
  const auto scan = scan_processes(root / "proc");
  CHECK(mps(scan)["processes"] == ordered_json{21, 22});
  CHECK(fabric_manager(root.path(), scan)["processes"] == ordered_json{23});
}

TEST_CASE("a fabric manager is needed where there are switches, which a hidden /proc does not tell") {
  const MadeUpRoot root;
  const auto needed = [&root] { return fabric_manager(root.path(), {})["needed"]; };
  CHECK(needed().is_null());
  root.put("proc/driver/rtc", "");
  CHECK(needed() == false);
  root.put("dev/nvidia-nvswitch0", "");
  CHECK(needed() == true);
  const MadeUpRoot without_nodes;
  without_nodes.put("proc/driver/nvidia-nvswitch/devices", "");
  CHECK(fabric_manager(without_nodes.path(), {})["needed"] == true);
}
