#include <algorithm>

#include "render/text_parts.hpp"
#include "render/units.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_rises = 5;
constexpr std::int64_t small_rise = 1 << 20;

// "500.0 MiB"; below zero where the ledger is above the driver's figure: memory that is promised and not resident.
std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + bytes_text(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
}

std::string limit_text(const EventRecord& event) {
  constexpr const char* names[] = {"STACK_SIZE",
                                   "PRINTF_FIFO_SIZE",
                                   "MALLOC_HEAP_SIZE",
                                   "DEV_RUNTIME_SYNC_DEPTH",
                                   "DEV_RUNTIME_PENDING_LAUNCH_COUNT",
                                   "MAX_L2_FETCH_GRANULARITY",
                                   "PERSISTING_L2_CACHE_SIZE"};
  if (!event.limit) return "";
  const std::string name =
      *event.limit < std::size(names) ? "CU_LIMIT_" + std::string(names[*event.limit]) : std::to_string(*event.limit);
  return " of " + name + " to " + grouped(event.bytes);
}

std::string reason_text(const UnexplainedRise& rise) {
  if (rise.why == schema::why::launch) return rise.is_first_launch ? "at the first launch" : "at a later launch";
  if (rise.why == schema::why::code) return "while loading code";
  if (rise.why == schema::why::context) return "with a new context";
  return "by the limit change" + (rise.cause ? limit_text(*rise.cause) : "");
}

void add_rises(TextPage& page, const ProcessView& view, const DeviceFigures& figures) {
  std::vector<const UnexplainedRise*> largest;
  for (const auto& rise : figures.rises) {
    if (rise.bytes >= small_rise) largest.push_back(&rise);
  }
  std::stable_sort(largest.begin(), largest.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  if (largest.size() > most_rises) largest.resize(most_rises);
  for (const auto* rise : largest) {
    page.item(rise_text(view, *rise), 4);
  }
}

const char* holder_text(Reservation::Holder holder) {
  switch (holder) {
    case Reservation::Holder::current_pool: return "The stream-ordered pool";
    case Reservation::Holder::pool: return "The memory pool";
    case Reservation::Holder::graphs: break;
  }
  return "The memory for graphs";
}

}  // namespace

std::string rise_text(const ProcessView& view, const UnexplainedRise& rise) {
  std::string text = "+" + signed_bytes(rise.bytes) + " " + reason_text(rise);
  if (rise.cause) text += ", called by " + view.names.of(rise.cause->stack).label;
  return text + ", between " + duration_text(rise.since_ns) + " and " + duration_text(rise.ns);
}

void add_unexplained(TextPage& page, const ProcessView& view) {
  if (view.process.figures.empty()) return;
  page.heading("Not explained by any call");
  page.paragraph(
      "What the driver calls used, less what this process's calls hold: contexts, loaded code, and the memory of other "
      "processes, for the driver's figure is the whole device's.",
      2);
  for (const auto& [device, figures] : view.process.figures) {
    const DriverMoment& first = figures.moments.front();
    const DriverMoment& last = figures.moments.back();
    const auto highest =
        std::max_element(figures.moments.begin(), figures.moments.end(),
                         [](const auto& a, const auto& b) { return a.unexplained() < b.unexplained(); });
    std::string text =
        "GPU " + std::to_string(device) + ": " + signed_bytes(last.unexplained()) + " at " + duration_text(last.ns);
    if (figures.moments.size() > 1) {
      text += "; highest " + signed_bytes(highest->unexplained()) + " at " + duration_text(highest->ns) + "; " +
              signed_bytes(first.unexplained()) + " at first, at " + duration_text(first.ns) + " (" +
              count_of(figures.moments.size(), "sample") + ")";
    }
    page.paragraph(text + ".", 2);
    add_rises(page, view, figures);
  }
}

void add_driver_peaks(TextPage& page, const ProcessView& view) {
  for (const auto& [device, figures] : view.process.figures) {
    const auto highest = std::max_element(figures.moments.begin(), figures.moments.end(),
                                          [](const auto& a, const auto& b) { return a.used < b.used; });
    page.blank_line();
    page.paragraph("The driver's highest figure for GPU " + std::to_string(device) + ": " + bytes_text(highest->used) +
                   " used, at " + duration_text(highest->ns) + " (" + count_of(figures.moments.size(), "sample") +
                   "). Calls of this process explain " + signed_bytes(highest->ledger) + " of it, " +
                   signed_bytes(highest->unexplained()) + " are not explained by any call.");
  }
}

void add_reservations(TextPage& page, const ProcessView& view) {
  bool has_any = false;
  for (const auto& each : view.process.reservations) {
    if (each.reserved == 0) continue;
    if (!has_any) page.heading("Parked: freed to a pool, not to the driver");
    has_any = true;
    const std::string whose = each.holder == Reservation::Holder::pool && each.stack > 0
                                  ? " of " + view.names.of(each.stack).label
                                  : std::string();
    page.paragraph(holder_text(each.holder) + whose +
                       (each.device ? " on GPU " + std::to_string(*each.device) : std::string()) + ": " +
                       bytes_text(each.reserved) + " reserved, " + bytes_text(each.used) + " used, " +
                       bytes_text(each.parked()) + " parked, at " + duration_text(each.ns) + ".",
                   2);
  }
}

}  // namespace gpumem
