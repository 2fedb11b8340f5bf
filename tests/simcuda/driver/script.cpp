// SPDX-License-Identifier: Apache-2.0
#include "driver/script.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "driver/script_reader.h"
#include "driver/shared_account.h"

namespace simcuda {
namespace {

reader compute_capability(std::array<int, 2>& target) {
  return [&target](const json& value, const location& where) {
    if (!value.is_array() || value.size() != 2) where.refuse("[major, minor] is expected");
    integer(target[0], 1, 99)(value[0], where.item(0));
    integer(target[1], 0, 99)(value[1], where.item(1));
  };
}

reader reuse(address_reuse& target) {
  return word(target, {{"smallest_hole", address_reuse::smallest_hole},
                       {"at_once", address_reuse::at_once},
                       {"never", address_reuse::never}});
}

reader mode(compute_mode& target) {
  return word(target, {{"default", compute_mode::shared},
                       {"prohibited", compute_mode::prohibited},
                       {"exclusive_thread", compute_mode::exclusive_thread},
                       {"exclusive_process", compute_mode::exclusive_process}});
}

reader mig(mig_mode& target) {
  return word(
      target,
      {{"unsupported", mig_mode::unsupported}, {"disabled", mig_mode::disabled}, {"enabled", mig_mode::enabled}});
}

reader kind(process_kind& target) {
  return word(target,
              {{"compute", process_kind::compute}, {"graphics", process_kind::graphics}, {"mps", process_kind::mps}});
}

reader uuid_text(std::array<unsigned char, 16>& target) {
  return [&target](const json& value, const location& where) {
    std::string digits;
    if (value.is_string()) {
      for (const char character : value.get<std::string>()) {
        if (character != '-') digits += character;
      }
    }
    const bool valid = digits.size() == 35 && digits.starts_with("GPU") &&
                       digits.find_first_not_of("0123456789abcdefABCDEF", 3) == std::string::npos;
    if (!valid) where.refuse("GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx in hexadecimal is expected");
    for (std::size_t index = 0; index < target.size(); ++index) {
      target[index] = static_cast<unsigned char>(std::stoi(digits.substr(3 + 2 * index, 2), nullptr, 16));
    }
  };
}

reader pci_bus_id(device_description& target) {
  return [&target](const json& value, const location& where) {
    unsigned domain = 0, bus = 0, device = 0;
    int end = 0;
    const std::string id = value.is_string() ? value.get<std::string>() : "";
    if (std::sscanf(id.c_str(), "%4x:%2x:%2x.0%n", &domain, &bus, &device, &end) != 3 || end != int(id.size())) {
      where.refuse("domain:bus:device.0 in hexadecimal is expected");
    }
    target.pci_domain = static_cast<int>(domain);
    target.pci_bus = static_cast<int>(bus);
    target.pci_device = static_cast<int>(device);
  };
}

reader sizes(std::map<std::string, std::size_t, std::less<>>& target) {
  return [&target](const json& value, const location& where) {
    if (!value.is_object()) where.refuse("an object is expected");
    for (const auto& [name, size] : value.items()) integer(target[name], std::size_t{1})(size, where.key(name));
  };
}

device_description default_device(std::size_t ordinal) {
  device_description device;
  device.position = ordinal;
  device.name = "SimCUDA GPU " + std::to_string(ordinal);
  device.uuid = {0x51, 0x3c, 0xda};
  device.uuid.back() = static_cast<unsigned char>(ordinal);
  device.pci_bus = static_cast<int>(ordinal + 1);
  return device;
}

other_process read_process(const json& value, const location& where, std::size_t) {
  other_process process;
  read_object(value, where,
              {{"pid", integer(process.pid)},
               {"name", text(process.name)},
               {"used_bytes", integer(process.used_bytes)},
               {"kind", kind(process.kind)}});
  return process;
}

memory_fall read_fall(const json& value, const location& where, std::size_t) {
  memory_fall fall;
  read_object(value, where, {{"after_ms", integer(fall.after_ms)}, {"bytes", integer(fall.bytes)}});
  return fall;
}

device_description read_device(const json& value, const location& where, std::size_t ordinal) {
  device_description device = default_device(ordinal);
  read_object(value, where,
              {{"name", text(device.name)},
               {"capacity", integer(device.capacity)},
               {"context_overhead", integer(device.context_overhead)},
               {"reserved_bytes", integer(device.reserved_bytes)},
               {"address_space_needed", integer(device.address_space_needed)},
               {"contiguous", boolean(device.contiguous)},
               {"exclusive_within_process", boolean(device.exclusive_within_process)},
               {"uuid", uuid_text(device.uuid)},
               {"pci_bus_id", pci_bus_id(device)},
               {"compute_mode", mode(device.mode)},
               {"compute_capability", compute_capability(device.compute_capability)},
               {"multiprocessors", integer(device.multiprocessors, 1)},
               {"other_processes", list(device.other_processes, read_process)},
               {"falls", list(device.falls, read_fall)},
               {"persistence", boolean(device.persistence)},
               {"mig", mig(device.mig)}});
  return device;
}

rule read_rule(const json& value, const location& where, std::size_t) {
  rule result;
  read_object(value, where,
              {{"call", text(result.call)},
               {"nth", integer(result.nth, std::uint64_t{1})},
               {"times", integer(result.times, std::uint64_t{1})},
               {"code", integer(result.code)},
               {"delay_ms", integer(result.delay_ms)},
               {"log", text(result.log)},
               {"free_falls_by", integer(result.free_falls_by)},
               {"device", integer(result.device)}});
  if (result.call.empty()) where.key("call").refuse("the name of an exported function is expected");
  if (value.contains("nth") && !value.contains("times")) result.times = 1;
  return result;
}

}  // namespace

script default_script() {
  script result;
  result.devices.push_back(default_device(0));
  return result;
}

void sort_by_pci(std::vector<device_description>& devices) {
  const auto place = [](const device_description& one) {
    return std::array{one.pci_domain, one.pci_bus, one.pci_device};
  };
  std::ranges::stable_sort(devices, {}, place);
}

std::optional<script> script_of_environment() {
  const char* path = std::getenv("SIMCUDA_SCRIPT");
  if (!path || !*path) return default_script();
  try {
    return load_script(path);
  } catch (const script_error& error) {
    std::fprintf(stderr, "simcuda: %s\n", error.what());
    return std::nullopt;
  }
}

script load_script(const std::string& path) {
  const location where(path);
  std::ifstream file(path);
  if (!file) where.refuse("cannot be read");
  json document;
  try {
    document = json::parse(file);
  } catch (const json::parse_error& error) {
    where.refuse(error.what());
  }
  script result = default_script();
  read_object(document, where,
              {{"driver_version", integer(result.driver_version, 1000)},
               {"nvml_driver_version", text(result.nvml_driver_version)},
               {"module_bytes", integer(result.module_bytes)},
               {"reuse", reuse(result.reuse)},
               {"pinned_limit", integer(result.pinned_limit)},
               {"shared_account", text(result.shared_account)},
               {"peer_access", boolean(result.peer_access)},
               {"globals", sizes(result.globals)},
               {"strict", boolean(result.strict)},
               {"devices", list(result.devices, read_device)},
               {"rules", list(result.rules, read_rule)}});
  if (!result.shared_account.empty() && result.devices.size() > shared_account::most_devices) {
    where.key("shared_account").refuse("for at most " + std::to_string(shared_account::most_devices) + " devices");
  }
  for (std::size_t index = 0; index < result.rules.size(); ++index) {
    if (std::cmp_greater_equal(result.rules[index].device, result.devices.size()) &&
        result.rules[index].free_falls_by) {
      where.key("rules").item(index).key("device").refuse("no such device");
    }
  }
  return result;
}

}  // namespace simcuda
