#include "render/json_reports.hpp"

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
    object["site"] = site_object(view, each.site.stack);
    list.push_back(std::move(object));
  }
  return list;
}

json context_drop_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& drop : view.process.context_drops) {
    json object = {{"ns", drop.ns}, {"api", drop.api}, {"device", or_null(drop.device)}};
    put_usage(object, drop.dropped);
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

json diagnosis_object(const ProcessView& view, const ExplainedFailure& failure) {
  const Diagnosis& why = failure.why;
  json candidates = json::array();
  for (const auto& each : why.candidates)
    candidates.push_back({{"cause", each.cause}, {"decided_by", each.decided_by}});
  return {{"certainty", word(why.sureness)},
          {"verdict", why.verdict},
          {"evidence", evidence_of(view, failure)},
          {"advice", or_null(why.advice)},
          {"candidates", std::move(candidates)}};
}

json failure_object(const ProcessView& view, const ExplainedFailure& each) {
  const FailureGroup& group = each.group;
  const FailureRecord& failure = group.first;
  const auto runtime = runtime_of_failure(view.process.all_modules, failure, view.process.stack(failure.stack));
  json object = {{"api", failure.api},
                 {"code", failure.code},
                 {"name", or_null(failure.name)},
                 {"inner_api", or_null(failure.in)},
                 {"inner_code", or_null(failure.in_code)},
                 {"inner_name", or_null(failure.in_name)},
                 {"tried", failure.tried},
                 {"kind", or_null(failure.kind)},
                 {"device", or_null(failure.device)},
                 {"bytes", failure.bytes},
                 {"last_bytes", group.last_bytes},
                 {"live_bytes", or_null(failure.live)},
                 {"tid", failure.tid},
                 {"first_of_process", failure.first},
                 {"start", failure.start},
                 {"ns", failure.ns},
                 {"last_ns", group.last_ns},
                 {"count", group.count},
                 {"outcome", word(group.end)},
                 {"recovered_ns", group.end == Outcome::recovered ? json(group.recovered_ns) : json()},
                 {"freed_in_between", group.freed_in_between}};
  object["driver"] = group.driver ? json{{"free", group.driver->free}, {"total", group.driver->total}} : json();
  object["runtime"] =
      runtime ? json{{"path", runtime->path}, {"static", runtime->is_static}, {"version", or_null(runtime->version)}}
              : json();
  object["held_then"] = json::array();
  if (group.held) {
    for (const auto& held : group.held->largest) {
      json part = total_object(held.key.total);
      put_usage(part, held.amount);
      part["site"] = site_object(view, held.key.stack);
      object["held_then"].push_back(std::move(part));
    }
  }
  object["diagnosis"] = diagnosis_object(view, each);
  object["site"] = site_object(view, failure.stack);
  return object;
}

json failure_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& each : view.process.failures) list.push_back(failure_object(view, each));
  return list;
}

json in_flight_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& begin : view.process.in_flight) {
    list.push_back(
        {{"api", begin.api}, {"ns", begin.ns}, {"tid", begin.tid}, {"site", site_object(view, begin.stack)}});
  }
  return list;
}

json device_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& [ordinal, device] : view.process.devices) {
    const auto sample = view.process.last_samples.find(ordinal);
    const bool has_sample = sample != view.process.last_samples.end();
    list.push_back({{"device", ordinal},
                    {"uuid", or_null(device.uuid)},
                    {"pci", or_null(device.pci)},
                    {"name", or_null(device.name)},
                    {"total_bytes", or_null(device.total)},
                    {"last_free_bytes", has_sample ? json(sample->second.free) : json()}});
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
  return object;
}

json json_peaks(const ProcessView& view) {
  json object = process_object(view);
  object["peaks"] = peak_list(view);
  return object;
}

json json_failures(const ProcessView& view) {
  json object = process_object(view);
  object["failures"] = failure_list(view);
  object["in_flight"] = in_flight_list(view);
  return object;
}

json json_report(const ProcessView& view) {
  json object = json_leaks(view);
  object["peaks"] = peak_list(view);
  object["failures"] = failure_list(view);
  object["in_flight"] = in_flight_list(view);
  object["passed_by"] = passed_by_list(view);
  object["devices"] = device_list(view);
  object["runtimes"] = runtime_list(view);
  object["driver_library"] = or_null(driver_library(view.process.all_modules));
  object["kernel_driver"] = or_null(view.process.process.kernel_driver);
  return object;
}

}  // namespace gpumem
