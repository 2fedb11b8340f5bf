#include "probe/probe.hpp"

#include "model/error.hpp"
#include "probe/device_nodes.hpp"
#include "probe/nvml.hpp"
#include "probe/section.hpp"
#include "probe/system.hpp"

namespace gpumem {

nlohmann::ordered_json probe(std::chrono::milliseconds deadline) {
  constexpr int schema_version = 1;
  constexpr const char* names[] = {"nvml", "device_nodes", "system"};
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const auto nodes = find_device_nodes("/dev");
  const auto results = run_sections(
      {tell_nvml, [&nodes](Findings& findings) { tell_device_nodes(findings, nodes); }, tell_system}, deadline);
  nlohmann::ordered_json all = {{"schema_version", schema_version},
                                {"wall_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count()},
                                {"deadline_ms", deadline.count()}};
  bool was_started = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    was_started |= results[i].at("status") != "not started";
    all[names[i]] = results[i];
  }
  if (!was_started) {
    throw Error("No process could be started to ask (" + results[0].at("reason").get<std::string>() +
                "); look at the limits on processes and open files.");
  }
  return all;
}

}  // namespace gpumem
