#include "model/machine.hpp"

#include <algorithm>
#include <cctype>

#include "model/record_parser.hpp"
#include "model/told.hpp"

namespace gpumem {
namespace {

using nlohmann::json;

std::vector<std::string> texts_of(const Told& list) {
  std::vector<std::string> texts;
  list.each([&](const Told& element) {
    if (auto text = element.text()) texts.push_back(*std::move(text));
  });
  return texts;
}

std::vector<std::int64_t> integers_of(const Told& list) {
  std::vector<std::int64_t> numbers;
  list.each([&](const Told& element) {
    if (const auto number = element.integer()) numbers.push_back(*number);
  });
  return numbers;
}

OtherProcess process_of(const Told& told) {
  OtherProcess process;
  process.pid = told["pid"].integer().value_or(0);
  process.parent = told["ppid"].integer();
  process.name = told["name"].text();
  process.command = texts_of(told["command"]);
  process.start_ticks = told["start_ticks"].count();
  if (const auto age = told["age_s"].number(); age && *age >= 0) process.age_s = static_cast<std::uint64_t>(*age);
  process.state = told["state"].text().value_or("");
  process.reason = told["reason"].text().value_or("");
  process.files = texts_of(told["files"]);
  return process;
}

void add_users(Gpu& gpu, const Told& list, bool is_graphics) {
  list.each([&](const Told& told) {
    const auto pid = told["pid"].integer();
    if (!pid) return;
    const auto bytes = told["used_bytes"].count();
    const auto known =
        std::find_if(gpu.users.begin(), gpu.users.end(), [&](const GpuUser& user) { return user.pid == *pid; });
    if (known == gpu.users.end()) {
      gpu.users.push_back({*pid, bytes, is_graphics});
      return;
    }
    known->bytes = std::max(known->bytes, bytes);  // a process in two lists has its memory in both
    known->is_graphics_only = known->is_graphics_only && is_graphics;
  });
}

void read_memory(const Told& told, std::optional<std::uint64_t>& total, std::optional<std::uint64_t>& free,
                 std::optional<std::uint64_t>* reserved) {
  // The second form tells what the driver itself has reserved; free is the same in both.
  for (const char* form : {"memory_v2", "memory"}) {
    const Told memory = told[form];
    if (!total) total = memory["total_bytes"].count();
    if (!free) free = memory["free_bytes"].count();
    if (reserved && !*reserved) *reserved = memory["reserved_bytes"].count();
  }
  if (total && free && *free > *total) total.reset(), free.reset();  // neither can be believed
}

Gpu gpu_of(const Told& told) {
  Gpu gpu;
  gpu.index = told["index"].integer().value_or(0);
  gpu.uuid = told["uuid"].text();
  gpu.pci = told["pci_bus_id"].text();
  gpu.name = told["name"].text();
  read_memory(told, gpu.total, gpu.free, &gpu.reserved);
  gpu.compute_mode = told["compute_mode"].word();
  gpu.mig_enabled = told["mig"]["current"].truth().value_or(false);
  told["mig"]["instances"].each([&](const Told& each) {
    MigInstance instance;
    instance.uuid = each["uuid"].text().value_or("");
    read_memory(each, instance.total, instance.free, nullptr);
    gpu.instances.push_back(std::move(instance));
  });
  const Told users = told["processes"];
  gpu.users_known = users["compute"].is_told();
  add_users(gpu, users["compute"], false);
  add_users(gpu, users["mps"], false);
  add_users(gpu, users["graphics"], true);
  std::stable_sort(gpu.users.begin(), gpu.users.end(),
                   [](const GpuUser& a, const GpuUser& b) { return a.bytes > b.bytes; });
  return gpu;
}

std::string trouble_of(const Told& section) {
  for (const char* key : {"reason", "text", "in"}) {
    if (auto text = section[key].text()) return *text;
  }
  return "";
}

void read_nvml(Machine& machine, const Told& told) {
  Nvml& nvml = machine.nvml;
  nvml.status = told["status"].text().value_or("");
  nvml.trouble = trouble_of(told);
  nvml.code = told["code"].integer();
  nvml.path = told["path"].text().value_or("");
  nvml.driver_version = told["driver_version"].text().value_or("");
  nvml.cuda_version = told["cuda_driver_version"].count();
  told["devices"].each([&](const Told& device) { machine.gpus.push_back(gpu_of(device)); });
  told["processes"].each([&](const Told& process) { machine.processes.push_back(process_of(process)); });
}

void read_nodes(Machine& machine, const Told& told) {
  machine.nodes_known = told["nodes"].is_told();
  told["nodes"].each([&](const Told& each) {
    machine.nodes.push_back(
        {each["path"].text().value_or(""), each["exists"].truth().value_or(false), each["open"].text()});
  });
}

// The files of both versions of cgroups: "max" stands for no limit, and is a text.
MemoryGroup group_of(const Told& told) {
  MemoryGroup group;
  group.folder = told["folder"].text().value_or("");
  const auto limit = told["memory.max"].count();
  group.limit = limit ? limit : told["memory.limit_in_bytes"].count();
  const auto used = told["memory.current"].count();
  group.used = used ? used : told["memory.usage_in_bytes"].count();
  std::uint64_t cached = 0;
  told["stat"].each_entry([&](const std::string&, const Told& value) { cached += value.count().value_or(0); });
  if (group.used) *group.used -= std::min(cached, *group.used);
  told["events"].each_entry([&](const std::string& name, const Told& value) {
    if (const auto count = value.count()) group.events[name] = *count;
  });
  return group;
}

void read_host_memory(Machine& machine, const Told& told) {
  machine.host_total = told["total_bytes"].count();
  machine.host_available = told["available_bytes"].count();
  machine.swap_free = told["swap_free_bytes"].count();
  machine.overcommit = told["overcommit"].integer();
  machine.commit_limit = told["commit_limit_bytes"].count();
  machine.committed = told["committed_bytes"].count();
}

void read_system(Machine& machine, const Told& told) {
  machine.kernel_driver = told["kernel_driver"].text();
  told["cgroup_memory"]["levels"].each([&](const Told& level) { machine.groups.push_back(group_of(level)); });
  machine.container_marks = texts_of(told["container_marks"]);
  machine.own_pid_namespace = !told["pid_namespace"]["initial"].truth().value_or(true);
  machine.proc = told["proc"].text().value_or("");
  const Told mps = told["mps"];
  machine.mps = {mps["pipe_directory"].text(), mps["chosen"].truth().value_or(false), mps["exists"].truth(),
                 mps["control_exists"].truth(), integers_of(mps["processes"])};
  machine.suspends = told["times"]["suspends"].count();
  machine.since_resume_s = told["times"]["since_resume_s"].number();
  const Told log = told["kernel_log"];
  machine.kernel_log_trouble = log["reason"].text().value_or("");
  log["lines"].each([&](const Told& line) {
    machine.kernel_log.push_back({line["seconds_ago"].number(), line["text"].text().value_or("")});
  });
  machine.needs_fabric_manager = told["fabric_manager"]["needed"].truth();
  machine.fabric_managers = integers_of(told["fabric_manager"]["processes"]);
  read_host_memory(machine, told["host_memory"]);
  told["holders"].each([&](const Told& process) { machine.holders.push_back(process_of(process)); });
  machine.unreadable_processes = told["holders_unreadable"].count();
  told["libraries"].each([&](const Told& library) {
    if (auto path = library["path"].text()) machine.libraries.push_back({*std::move(path), library["target"].text()});
  });
}

}  // namespace

const OtherProcess* Machine::process(std::int64_t pid) const {
  for (const auto* list : {&holders, &processes}) {
    for (const auto& each : *list) {
      if (each.pid == pid && (each.name || list == &processes)) return &each;
    }
  }
  return nullptr;
}

const DeviceNode* Machine::node(std::string_view path) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [path](const auto& each) { return each.path == path; });
  return found == nodes.end() ? nullptr : &*found;
}

Machine read_machine(const json& said) {
  const Told told(said);
  Machine machine;
  machine.wall_ns = told["wall_ns"].count().value_or(0);
  read_nvml(machine, told["nvml"]);
  read_nodes(machine, told["device_nodes"]);
  read_system(machine, told["system"]);
  return machine;
}

Machine read_machine_text(std::string_view said) {
  const auto object = json::parse(said, nullptr, false);
  if (!object.is_object()) throw BadLine("has a probe whose answer is not a JSON object");
  return read_machine(object);
}

std::string plain_pci(std::string_view pci) {
  std::string plain;
  for (const char c : pci) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::size_t domain_digits = 4;
  const auto domain = plain.find(':');
  if (domain != std::string::npos && domain > domain_digits) plain.erase(0, domain - domain_digits);
  return plain;
}

}  // namespace gpumem
