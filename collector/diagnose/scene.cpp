#include "diagnose/scene.hpp"

#include <algorithm>
#include <sstream>

#include "schema.hpp"

namespace gpumem {
namespace {

// Entries of CUDA_VISIBLE_DEVICES: numbers, or beginnings of UUIDs. The driver stops at the first that names nothing.
std::vector<std::string> entries_of(const std::string& list) {
  std::vector<std::string> entries;
  std::istringstream words(list);
  for (std::string entry; std::getline(words, entry, ',');) entries.push_back(entry);
  return entries;
}

}  // namespace

Scene::Scene(const FailureGroup& group, const ProcessAnalysis& process, const Machine* machine,
             Neighbourhood& neighbours)
    : group_(group),
      process_(process),
      machine_(machine),
      neighbours_(neighbours),
      code_(deciding_code(group.first, process.all_modules)),
      gpus_(find_gpus()) {}

std::uint64_t Scene::machine_age_ns() const {
  if (!group_.probe || group_.probe->ns >= failure().ns) return 0;
  return failure().ns - group_.probe->ns;
}

bool Scene::is_device(const Gpu& gpu, const DeviceRecord& device) const {
  if (gpu.uuid && device.uuid) return gpu.uuid == device.uuid;
  return gpu.pci && device.pci && plain_pci(*gpu.pci) == plain_pci(*device.pci);
}

const DeviceRecord* Scene::device() const {
  if (!failure().device) return nullptr;
  const auto known = process_.devices.find(*failure().device);
  return known == process_.devices.end() ? nullptr : &known->second;
}

std::vector<const Gpu*> Scene::find_gpus() const {
  std::vector<const Gpu*> found;
  if (!machine_) return found;
  if (const DeviceRecord* known = device()) {
    for (const auto& gpu : machine_->gpus) {
      if (is_device(gpu, *known)) return {&gpu};
    }
  }
  const auto visible = variable("CUDA_VISIBLE_DEVICES");
  for (const auto& entry : entries_of(visible.value_or(""))) {
    const auto named = std::find_if(machine_->gpus.begin(), machine_->gpus.end(), [&](const Gpu& gpu) {
      return entry == std::to_string(gpu.index) || (entry.size() > 4 && gpu.uuid && gpu.uuid->starts_with(entry));
    });
    if (named == machine_->gpus.end()) break;
    found.push_back(&*named);
  }
  if (!visible) {
    for (const auto& gpu : machine_->gpus) found.push_back(&gpu);
  }
  // Numbers are NVML's only where CUDA counts by the bus, or where there is one device.
  const bool same_order = machine_->gpus.size() == 1 || variable("CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
  const auto ordinal = static_cast<std::size_t>(failure().device.value_or(0));
  if (failure().device && same_order && ordinal < found.size()) return {found[ordinal]};
  return found;
}

std::optional<DeviceOrdinal> Scene::ordinal_of(const Gpu& gpu) const {
  for (const auto& [ordinal, device] : process_.devices) {
    if (is_device(gpu, device)) return ordinal;
  }
  return gpus_.size() == 1 && gpus_.front() == &gpu ? failure().device : std::nullopt;
}

std::string Scene::name_of(const Gpu& gpu) const {
  const auto ordinal = ordinal_of(gpu);
  std::string details = gpu.name.value_or("");
  if (gpu.pci) details += (details.empty() ? "" : ", ") + plain_pci(*gpu.pci);
  if (ordinal && *ordinal != gpu.index) details += ", number " + std::to_string(gpu.index) + " of nvidia-smi";
  const std::string number = "GPU " + std::to_string(ordinal ? *ordinal : gpu.index);
  return details.empty() ? number : number + " (" + details + ")";
}

std::optional<std::string> Scene::variable(const std::string& name) const {
  if (const auto now = failure().env_now.find(name); now != failure().env_now.end()) return now->second;
  return variable_at_exec(name);
}

std::optional<std::string> Scene::variable_at_exec(const std::string& name) const {
  const auto found = process_.process.env.find(name);
  return found == process_.process.env.end() ? std::nullopt : std::optional(found->second);
}

const ModuleRecord* Scene::module_named(std::string_view part) const {
  for (const auto& [_, module] : process_.all_modules) {
    if (module.path && module.path->find(part) != std::string::npos) return &module;
  }
  return nullptr;
}

std::optional<std::uint64_t> Scene::address_space_limit() const {
  return group_.state ? group_.state->limits.address_space : process_.process.limit_as;
}

bool Scene::had_context_on(const Gpu& gpu) const {
  const auto ordinal = ordinal_of(gpu);
  return ordinal && group_.own_contexts.contains(*ordinal);
}

bool Scene::is_self(std::int64_t pid) const {
  return pid == process_.process.pid && !(machine_ && machine_->own_pid_namespace);
}

Evidence Scene::from_failure(std::string text) const {
  return {std::move(text), LineOfJournal{schema::line::failure, failure().ns, failure().tid}, ""};
}

Evidence Scene::from_process(std::string text, std::string where) const {
  const ProcessRecord& line = process_.process;
  return {std::move(text), LineOfJournal{schema::line::process, line.ns, line.tid}, std::move(where)};
}

Evidence Scene::from_state(std::string text, std::string where) const {
  if (!group_.state) return from_process(std::move(text), std::move(where));
  return {std::move(text), LineOfJournal{schema::line::state, group_.state->ns, group_.state->tid}, std::move(where)};
}

Evidence Scene::from_probe(std::string text, std::string where) const {
  if (!group_.probe) return {std::move(text), std::nullopt, std::move(where)};
  return {std::move(text), LineOfJournal{schema::line::probe, group_.probe->ns, group_.probe->tid}, std::move(where)};
}

Evidence Scene::from_gpu(std::string text, const Gpu& gpu, std::string_view key) const {
  return from_probe(std::move(text), "nvml.devices[" + std::to_string(gpu.index) + "]." + std::string(key));
}

Evidence Scene::from_driver(std::string text) const {
  if (!group_.driver) return {std::move(text), std::nullopt, ""};
  return {std::move(text), LineOfJournal{schema::line::sample, group_.driver->ns, group_.driver->tid}, ""};
}

Evidence Scene::from_module(std::string text, const ModuleRecord& module) const {
  return {std::move(text), LineOfJournal{schema::line::module, module.ns, module.tid}, "path"};
}

Evidence Scene::from_variable(std::string text, const std::string& name) const {
  if (failure().env_now.contains(name)) {
    Evidence evidence = from_failure(std::move(text));
    evidence.where = "env_now." + name;
    return evidence;
  }
  return from_process(std::move(text), "env." + name);
}

}  // namespace gpumem
