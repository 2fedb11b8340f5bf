#include "forensics/memory_group.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "scratch_folder.hpp"

using namespace gpumem;
using gpumem::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

struct Machine {
  ScratchFolder root;

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  MemoryGroup group() const { return find_memory_group(root.path().c_str()); }
  std::string folder(const std::string& path) const { return (root / path).string(); }
};

}  // namespace

TEST_CASE("the group with the lowest limit bounds the process, be it its own or one above") {
  Machine machine;
  machine.write("proc/self/cgroup", "0::/pods/mine\n");
  machine.write("sys/fs/cgroup/pods/memory.max", "1000000\n");
  machine.write("sys/fs/cgroup/pods/mine/memory.max", "max\n");
  CHECK(machine.group().folder == machine.folder("sys/fs/cgroup/pods"));
  machine.write("sys/fs/cgroup/pods/mine/memory.max", "999999\n");
  machine.write("sys/fs/cgroup/pods/mine/memory.current", "777777\n");
  machine.write("sys/fs/cgroup/pods/mine/memory.events", "low 0\nhigh 5\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n");
  const auto group = machine.group();
  CHECK(group.folder == machine.folder("sys/fs/cgroup/pods/mine"));
  const auto state = memory_group_state(group);
  CHECK(state.limit == 999999);
  CHECK(state.used == 777777);
  CHECK(state.kills == 2);
}

TEST_CASE("without a limit there is no such group") {
  Machine machine;
  CHECK(std::string(machine.group().folder).empty());
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "max\n");
  CHECK(std::string(machine.group().folder).empty());
  const auto state = memory_group_state(machine.group());
  CHECK(state.used == MemoryGroupState::unknown);
  CHECK(state.limit == MemoryGroupState::unknown);
}

TEST_CASE("version 1 has a hierarchy for memory, and says no limit by a number") {
  Machine machine;
  machine.write("proc/self/cgroup", "5:cpu,memory:/docker/abc\n1:name=systemd:/x\n0::/y\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(std::string(machine.group().folder).empty());
  machine.write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4096000\n");
  machine.write("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "4095000\n");
  machine.write("sys/fs/cgroup/memory/docker/abc/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  const auto state = memory_group_state(machine.group());
  CHECK(state.used == 4095000);
  CHECK(state.limit == 4096000);
  CHECK(state.kills == 4);
}

TEST_CASE("in a container whose path is the host's the topmost folder is the group") {
  Machine machine;
  machine.write("proc/self/cgroup", "0::/system.slice/docker-abc.scope\n");
  machine.write("sys/fs/cgroup/memory.max", "5000\n");
  CHECK(machine.group().folder == machine.folder("sys/fs/cgroup"));
}

TEST_CASE("what makes no sense is no group") {
  Machine machine;
  machine.write("proc/self/cgroup", "nonsense\n::\n0::" + std::string(4000, 'x') + "\n");
  machine.write("sys/fs/cgroup/memory.max", "\n");
  CHECK(std::string(machine.group().folder).empty());
}

TEST_CASE("the machine says how much memory there is to be had") {
  CHECK(available_memory() > 1'000'000);
  CHECK(available_memory() < MemoryGroupState::unknown);
}
