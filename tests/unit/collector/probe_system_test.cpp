// Device files, limits and processes as the probe sees them, in folders made for it.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "catch.hpp"
#include "made_up_root.hpp"
#include "probe/cgroup.hpp"
#include "probe/device_nodes.hpp"
#include "probe/process_facts.hpp"

using namespace gpumem;
using gpumem::test::MadeUpRoot;
using nlohmann::ordered_json;

namespace {

// Cannot be opened, as a device file behind which there is no driver.
void put_socket(const std::filesystem::path& path) {
  sockaddr_un address{AF_UNIX, {}};
  REQUIRE(path.string().size() < sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  ::close(socket);
}

std::map<std::string, ordered_json> nodes_in(const MadeUpRoot& folder) {
  const auto found = find_device_nodes(folder.path());
  const auto told =
      run_sections({[&](Findings& findings) { tell_device_nodes(findings, found); }}, std::chrono::seconds(20));
  REQUIRE(told[0]["status"] == "ok");
  std::map<std::string, ordered_json> nodes;
  for (const auto& node : told[0]["nodes"]) {
    nodes[std::filesystem::path(node["path"]).lexically_relative(folder.path())] = node;
  }
  return nodes;
}

}  // namespace

TEST_CASE("device files that CUDA needs are named even where they are missing") {
  const auto nodes = nodes_in(MadeUpRoot());
  REQUIRE(nodes.size() == 3);
  for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia0"}) {
    CHECK(nodes.at(name)["exists"] == false);
    CHECK(nodes.at(name)["open"] == "ENOENT");
  }
}

TEST_CASE("device files are told with their mode, and what opening them gives") {
  const MadeUpRoot folder;
  folder.put("nvidiactl", "");
  ::chmod((folder / "nvidiactl").c_str(), 0640);
  put_socket(folder / "nvidia1");
  std::filesystem::create_symlink("nvidia0", folder / "nvidia0");
  folder.put("nvidia-caps/nvidia-cap1", "");
  folder.put("null", "");
  const auto nodes = nodes_in(folder);
  CHECK(nodes.size() == 5);
  CHECK(nodes.at("nvidiactl")["mode"] == "0640");
  CHECK(nodes.at("nvidiactl")["uid"] == ::getuid());
  CHECK(nodes.at("nvidiactl")["is_device"] == false);
  CHECK(nodes.at("nvidiactl")["open"] == "ok");
  CHECK(nodes.at("nvidia1")["exists"] == true);
  CHECK(nodes.at("nvidia1")["open"] == "ENXIO");
  CHECK(nodes.at("nvidia0")["open"] == "ELOOP");
  CHECK(nodes.at("nvidia-caps/nvidia-cap1")["open"] == "ok");
}

TEST_CASE("each level of a cgroup is told, since each may have the limit that counts") {
  const MadeUpRoot root;
  root.put("proc/self/cgroup", "0::/jobs/mine\n");
  root.put("sys/fs/cgroup/jobs/memory.max", "1073741824\n");
  root.put("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  root.put("sys/fs/cgroup/jobs/mine/memory.events", "low 0\noom 3\noom_kill 1\n");
  const auto memory = cgroup_memory(root.path());
  CHECK(memory["version"] == 2);
  CHECK(memory["group"] == "/jobs/mine");
  REQUIRE(memory["levels"].size() == 3);
  CHECK(memory["levels"][0]["memory.max"] == "max");
  CHECK(memory["levels"][0]["events"]["oom_kill"] == 1);
  CHECK(memory["levels"][1]["memory.max"] == 1073741824);
  CHECK(memory["levels"][2] == ordered_json{{"folder", (root / "sys/fs/cgroup").string()}});
}

TEST_CASE("a container that sees its own cgroup as the topmost is told that one") {
  const MadeUpRoot root;
  root.put("proc/self/cgroup", "0::/docker/abc\n");
  root.put("sys/fs/cgroup/memory.max", "5000\n");
  const auto memory = cgroup_memory(root.path());
  REQUIRE(memory["levels"].size() == 1);
  CHECK(memory["levels"][0]["memory.max"] == 5000);
}

TEST_CASE("where memory has a hierarchy of its own, that one counts") {
  const MadeUpRoot root;
  root.put("proc/self/cgroup", "5:cpu,cpuacct:/\n4:hugetlb,memory:/box\n0::/other\n");
  root.put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4096\n");
  root.put("sys/fs/cgroup/memory/box/memory.oom_control", "oom_kill_disable 0\noom_kill 2\n");
  const auto memory = cgroup_memory(root.path());
  CHECK(memory["version"] == 1);
  REQUIRE(memory["levels"].size() == 2);
  CHECK(memory["levels"][0]["memory.limit_in_bytes"] == 4096);
  CHECK(memory["levels"][0]["events"]["oom_kill"] == 2);
}

TEST_CASE("a system without cgroups has no levels") {
  const auto memory = cgroup_memory(MadeUpRoot().path());
  CHECK(memory["version"].is_null());
  CHECK(memory["levels"].empty());
}

TEST_CASE("a process is told by name, command and start") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("sleep", "sleep", "60", nullptr);
    ::_exit(1);
  }
  ordered_json facts;
  for (int i = 0; i < 500 && facts["command"] != ordered_json{"sleep", "60"}; ++i) {
    facts = process_facts(child);
    ::usleep(10000);
  }
  CHECK(facts["name"] == "sleep");
  CHECK(facts["ppid"] == ::getpid());
  CHECK(facts["start_ticks"] > 0);
  CHECK(facts["age_s"] < 60);
  CHECK(facts["reason"].is_null());
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  CHECK(process_facts(child)["state"] == "Z");
  CHECK(process_facts(child)["command"].empty());
  ::waitpid(child, nullptr, 0);
  facts = process_facts(child);
  CHECK(facts["reason"] == "ENOENT");
  for (const char* key : {"ppid", "name", "command", "start_ticks", "age_s", "state"}) CHECK(facts[key].is_null());
}

TEST_CASE("a command line is kept back where that is wished, and nothing else") {
  REQUIRE(::setenv("GPUMEM_REDACT", "1", 1) == 0);
  const auto kept_back = process_facts(::getpid());
  REQUIRE(::setenv("GPUMEM_REDACT", "0", 1) == 0);
  const auto told = process_facts(::getpid());
  ::unsetenv("GPUMEM_REDACT");
  CHECK(kept_back["command"].is_null());
  CHECK(kept_back["reason"] == "GPUMEM_REDACT");
  CHECK(kept_back["name"] == told["name"]);
  CHECK(told["command"].is_array());
  CHECK(told["reason"].is_null());
}
