#include "render/json_lists.hpp"

namespace gpumem {
namespace {

using json = ordered_json;

const char* word(Reservation::Holder holder) {
  switch (holder) {
    case Reservation::Holder::current_pool: return "current_pool";
    case Reservation::Holder::pool: return "pool";
    case Reservation::Holder::graphs: break;
  }
  return "graphs";
}

json moment_object(const DriverMoment& moment) {
  return {{"ns", moment.ns},
          {"why", moment.why},
          {"driver_used", moment.used},
          {"ledger", moment.ledger},
          {"unexplained", moment.unexplained()}};
}

json rise_object(const ProcessView& view, const UnexplainedRise& rise) {
  return {{"bytes", rise.bytes},
          {"since_ns", rise.since_ns},
          {"ns", rise.ns},
          {"why", rise.why},
          {"first_launch", rise.is_first_launch},
          {"api", rise.cause ? json(rise.cause->api) : json()},
          {"limit", rise.cause ? or_null(rise.cause->limit) : json()},
          {"site", rise.cause ? site_object(view, rise.cause->stack) : json()}};
}

}  // namespace

ordered_json unexplained_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& [device, figures] : view.process.figures) {
    json object = {{"device", device}, {"series", json::array()}, {"rises", json::array()}};
    for (const auto& moment : figures.moments) object["series"].push_back(moment_object(moment));
    for (const auto& rise : figures.rises) object["rises"].push_back(rise_object(view, rise));
    list.push_back(std::move(object));
  }
  return list;
}

ordered_json reservation_list(const ProcessView& view) {
  json list = json::array();
  for (const auto& each : view.process.reservations) {
    list.push_back({{"holder", word(each.holder)},
                    {"device", or_null(each.device)},
                    {"ns", each.ns},
                    {"reserved", each.reserved},
                    {"used", each.used},
                    {"parked", each.parked()},
                    {"site", each.stack > 0 ? site_object(view, each.stack) : json()}});
  }
  return list;
}

ordered_json coverage_object(const ProcessView& view) {
  const auto& end = view.process.counters;
  return end ? json{{"calls", end->calls}, {"routes", end->routes}, {"stacks", end->stacks}} : json();
}

}  // namespace gpumem
