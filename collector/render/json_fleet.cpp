#include "render/fleet.hpp"

namespace gpumem {
namespace {

ordered_json process_list(const Fleet& fleet) {
  ordered_json list = ordered_json::array();
  for (const auto& each : fleet.processes) {
    const Survivors survivors = survivors_of(fleet, each);
    list.push_back({{"journal", each.process->journal},
                    {"pid", each.process->process.pid},
                    {"host", each.process->process.host},
                    {"rank", or_null(each.rank)},
                    {"child", each.is_child},
                    {"peak_bytes", each.largest_peak},
                    {"ended_badly", each.ended_badly},
                    {"went_on_after_it", survivors.processes}});
  }
  return list;
}

ordered_json share_list(const Fleet& fleet, const FleetDevice& device, Symbolizer& symbols, const FrameRules& rules) {
  ordered_json list = ordered_json::array();
  for (const auto& share : device.shares) {
    CallNames names(*fleet.processes[share.process].process, symbols, rules);
    ordered_json sites = ordered_json::array();
    for (const auto& site : share.sites) {
      ordered_json part = {{"kind", site.key.total.kind}};
      put_usage(part, site.amount);
      part["stack"] = site.key.stack;
      part["label"] = names.of(site.key.stack).label;
      sites.push_back(std::move(part));
    }
    list.push_back({{"process", share.process},
                    {"device", share.device},
                    {"bytes", share.bytes},
                    {"as_of_ns", or_null(share.as_of_ns)},
                    {"may_have_ended", share.may_have_ended},
                    {"by_site", std::move(sites)}});
  }
  return list;
}

ordered_json device_object(const Fleet& fleet, const FleetDevice& device, Symbolizer& symbols,
                           const FrameRules& rules) {
  ordered_json users = ordered_json::array(), strays = ordered_json::array();
  for (const auto& [process, ordinal] : device.users) users.push_back({{"process", process}, {"device", ordinal}});
  for (const auto& stray : device.strays) {
    strays.push_back({{"process", stray.process},
                      {"device", stray.device},
                      {"peak_bytes", stray.peak},
                      {"context_bytes", or_null(stray.costs)}});
  }
  return {{"uuid", or_null(device.identity.uuid)},
          {"pci", or_null(device.identity.pci)},
          {"name", or_null(device.identity.name)},
          {"hosts", device.hosts},
          {"users", std::move(users)},
          {"peak_bytes", device.peak},
          {"peak_wall_ns", device.peak > 0 ? ordered_json(device.peak_wall_ns) : ordered_json()},
          {"shares", share_list(fleet, device, symbols, rules)},
          {"stray_contexts", std::move(strays)}};
}

}  // namespace

ordered_json json_fleets(const std::vector<Fleet>& fleets, Symbolizer& symbols, const FrameRules& rules) {
  ordered_json list = ordered_json::array();
  for (const auto& fleet : fleets) {
    ordered_json devices = ordered_json::array(), stragglers = ordered_json::array();
    for (const auto& device : fleet.devices) devices.push_back(device_object(fleet, device, symbols, rules));
    for (const auto& each : fleet.stragglers) stragglers.push_back({{"rank", each.rank}, {"peak_bytes", each.peak}});
    list.push_back({{"hosts", fleet.hosts},
                    {"processes", process_list(fleet)},
                    {"devices", std::move(devices)},
                    {"ranks",
                     {{"variable", or_null(fleet.rank_variable)},
                      {"world_size", or_null(fleet.world_size)},
                      {"missing", fleet.missing_ranks},
                      {"median_peak_bytes", fleet.median_peak},
                      {"stragglers", std::move(stragglers)}}}});
  }
  return list;
}

}  // namespace gpumem
