#include "render/json_lists.hpp"
#include "render/pointer_text.hpp"
#include "render/text_parts.hpp"

namespace gpumem {
namespace {

using json = ordered_json;

json pointer_object(const ProcessView& view, const CallRecord& call, const PointerHistory& history) {
  json object = {{"address", address_text(call.address)},
                 {"state", history.live    ? "live"
                           : history.ended ? "ended"
                                           : "unknown"},
                 {"kind", nullptr},
                 {"given_back_by", nullptr},
                 {"ended_ns", nullptr},
                 {"text", pointer_text(view, call, history)}};
  const std::string kind = history.live ? history.live->total.kind : history.ended ? history.ended->kind : "";
  object["kind"] = or_null(kind);
  object["given_back_by"] = or_null(given_back_text(kind));
  if (history.ended && !history.live) object["ended_ns"] = history.ended->ns;
  return object;
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
  object["driver"] = group.driver ? json{{"free", *group.driver->free}, {"total", *group.driver->total}} : json();
  object["runtime"] =
      runtime ? json{{"path", runtime->path}, {"static", runtime->is_static}, {"version", or_null(runtime->version)}}
              : json();
  object["held_then"] = json::array();
  for (const auto& held : group.held) {
    json part = total_object(held.key.total);
    put_usage(part, held.amount);
    part["site"] = site_object(view, held.key.stack);
    object["held_then"].push_back(std::move(part));
  }
  object["pointer"] = group.pointer ? pointer_object(view, failure, *group.pointer) : json();
  object["diagnosis"] = diagnosis_object(diagnosis_of(view, each));
  object["site"] = site_object(view, failure.stack);
  return object;
}

}  // namespace

json failure_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& each : view.troubles.failures) list.push_back(failure_object(view, each));
  return list;
}

json unknown_free_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& [call, pointer] : view.process.first_unknown_frees) {
    list.push_back({{"api", call.api},
                    {"ns", call.ns},
                    {"tid", call.tid},
                    {"pointer", pointer_object(view, call, pointer)},
                    {"site", site_object(view, call.stack)}});
  }
  return list;
}

json in_flight_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& each : view.troubles.hangs) {
    const EventRecord& begin = each.begin;
    list.push_back({{"api", begin.api},
                    {"inner_api", or_null(begin.in)},
                    {"ns", begin.ns},
                    {"tid", begin.tid},
                    {"diagnosis", diagnosis_object(diagnosis_of(view, each))},
                    {"site", site_object(view, begin.stack)}});
  }
  return list;
}

}  // namespace gpumem
