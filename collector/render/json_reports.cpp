#include "render/json_reports.hpp"

#include "render/json_lists.hpp"
#include "render/json_parts.hpp"
#include "render/library_shares.hpp"
#include "render/text_parts.hpp"

namespace gpumem {
namespace {

using json = ordered_json;

json leak_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& each : view.process.leaks) {
    json object = total_object(each.site.total);
    object["class"] = word(each.what);
    put_usage(object, each.amount);
    object["allocated_blocks"] = each.allocated.blocks;
    object["allocated_bytes"] = each.allocated.bytes;
    object["first_ns"] = each.first_ns;
    object["last_ns"] = each.last_ns;
    object["window_minima"] = each.minima;
    object["further_references"] = each.further_references;
    object["exported_blocks"] = each.exported;
    object["of"] = each.owner ? total_object(each.owner->total) : json();
    if (each.owner) object["of"]["stack"] = each.owner->stack;
    object["site"] = site_object(view, each.site.stack);
    list.push_back(std::move(object));
  }
  return list;
}

json context_drop_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& drop : view.process.context_drops) {
    json object = {{"ns", drop.ns}, {"api", drop.api}, {"device", or_null(drop.device)}};
    put_usage(object, sum_of(drop.dropped, Counts::device_memory));
    object["sums"] = json::array();
    for (const auto& [counts, amount] : drop.dropped) {
      json part = {{"counts", word(counts)}};
      put_usage(part, amount);
      object["sums"].push_back(std::move(part));
    }
    object["site"] = site_object(view, drop.stack);
    list.push_back(std::move(object));
  }
  return list;
}

json live_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& [key, amount] : live_totals(view.process)) {
    json object = total_object(key);
    put_usage(object, amount);
    list.push_back(std::move(object));
  }
  return list;
}

json peak_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& peak : view.process.peaks) {
    json object = total_object(peak.total);
    object["ns"] = peak.moment.ns;
    object["bytes"] = peak.bytes();
    object["recorded_bytes"] = peak.moment.bytes;
    object["replayed_bytes"] = peak.moment.replayed;
    object["moment_known"] = peak.moment.is_placed;
    object["snapshot"] = peak.snapshot ? json{{"ns", peak.snapshot->ns}, {"bytes", peak.snapshot->bytes}} : json();
    for (const char* key : {"by_site", "by_library", "by_thread", "beside"}) object[key] = json::array();
    for (const auto& each : peak.by_stack) {
      json part = json::object();
      put_usage(part, each.amount);
      part["site"] = site_object(view, each.key);
      object["by_site"].push_back(std::move(part));
    }
    for (const auto& each : shares_by_library(peak, view.names)) {
      json part = {{"library", each.library}};
      put_usage(part, each.amount);
      object["by_library"].push_back(std::move(part));
    }
    for (const auto& each : peak.by_thread) {
      json part = {{"tid", each.key}};
      put_usage(part, each.amount);
      object["by_thread"].push_back(std::move(part));
    }
    for (const auto& [total, amount] : peak.moment.beside) {
      json part = total_object(total);
      put_usage(part, amount);
      object["beside"].push_back(std::move(part));
    }
    list.push_back(std::move(object));
  }
  return list;
}

json device_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& [ordinal, device] : view.process.devices) {
    const auto figures = view.process.figures.find(ordinal);
    const bool has_sample = figures != view.process.figures.end();
    list.push_back({{"device", ordinal},
                    {"uuid", or_null(device.uuid)},
                    {"pci", or_null(device.pci)},
                    {"name", or_null(device.name)},
                    {"total_bytes", or_null(device.total)},
                    {"last_free_bytes", has_sample ? json(figures->second.moments.back().free) : json()}});
  }
  return list;
}

json passed_by_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& found : view.process.passed_by) {
    list.push_back({{"when", found.when}, {"apart", found.apart}, {"library", or_null(found.library)}});
  }
  return list;
}

json runtime_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& runtime : find_runtimes(view.process.all_modules)) {
    list.push_back({{"path", runtime.path}, {"static", runtime.is_static}, {"version", or_null(runtime.version)}});
  }
  return list;
}

}  // namespace

json json_leaks(const ProcessView& view) {
  json object = process_object(view);
  object["live"] = live_list(view);
  object["leaks"] = leak_list(view);
  object["context_drops"] = context_drop_list(view);
  object["reservations"] = reservation_list(view);
  return object;
}

json json_peaks(const ProcessView& view) {
  json object = process_object(view);
  object["peaks"] = peak_list(view);
  object["unexplained"] = unexplained_list(view);
  return object;
}

json json_failures(const ProcessView& view) {
  json object = process_object(view);
  object["failures"] = failure_list(view);
  object["unknown_frees"] = unknown_free_list(view);
  object["in_flight"] = in_flight_list(view);
  return object;
}

json json_report(const ProcessView& view) {
  json object = json_leaks(view);
  for (auto part : {json_peaks(view), json_failures(view)}) object.update(part);
  object["passed_by"] = passed_by_list(view);
  object["devices"] = device_list(view);
  object["runtimes"] = runtime_list(view);
  object["driver_library"] = or_null(driver_library(view.process.all_modules));
  object["kernel_driver"] = or_null(view.process.process.kernel_driver);
  object["coverage"] = coverage_object(view);
  return object;
}

}  // namespace gpumem
