#include "analyze/driver_figures.hpp"

#include <algorithm>

#include "schema.hpp"

namespace gpumem {
namespace {

// Why a sample was taken, where that can be what the memory went to.
bool can_cost_memory(const std::string& why) {
  return why == schema::why::context || why == schema::why::code || why == schema::why::launch ||
         why == schema::why::limit;
}

std::string_view reason_of_sample_after(const EventRecord& event) {
  if (event.op == schema::op::context) return schema::why::context;
  if (event.op == schema::op::limit) return schema::why::limit;
  const bool loads_code = event.kind == "module" || event.kind == "library" || event.kind == "graph_exec";
  return event.op == schema::op::alloc && loads_code ? schema::why::code : "";
}

Reservation reservation(Reservation::Holder holder, std::optional<DeviceOrdinal> device, std::uint64_t stack,
                        std::uint64_t ns, const HeldByDriver& held) {
  return {holder, device, stack, ns, held.reserved.value_or(0), held.used.value_or(0)};
}

}  // namespace

void DriverFigures::take(const EventRecord& event, const LiveTable& live) {
  settle(live);
  note_cause(event);
  if (event.op != schema::op::free || !event.block) return;
  std::erase_if(pools_, [&event](const auto& pool) { return pool.first.second == *event.block; });
}

void DriverFigures::note_cause(const EventRecord& event) {
  const std::string_view reason = reason_of_sample_after(event);
  if (!reason.empty()) causes_.insert_or_assign({event.tid, std::string(reason)}, event);
}

void DriverFigures::take(const SampleRecord& sample, const LiveTable& live) {
  if (!sample.pool && sample.device && pending_.contains(*sample.device)) settle(live);
  if (sample.pool_held.reserved) {
    const auto made_at = live.site_of(sample.pool.value_or(0));
    pools_[{sample.device, sample.pool.value_or(0)}] = {sample.ns, made_at ? made_at->stack : 0, sample.pool_held};
  }
  if (sample.pool || !sample.device) return;
  if (sample.graphs_held.reserved) graphs_[*sample.device] = {sample.ns, 0, sample.graphs_held};
  if (sample.free && sample.total && *sample.free <= *sample.total) pending_[*sample.device] = sample;
}

std::int64_t DriverFigures::ledger(DeviceOrdinal device, const LiveTable& live) const {
  std::int64_t bytes = live.bytes_on(device);
  std::int64_t of_current = live.bytes_in_pools(device);  // blocks that may be the current pool's
  std::int64_t current_reserved = 0;
  for (const auto& [key, pool] : pools_) {
    if (key.first != device) continue;
    const auto reserved = static_cast<std::int64_t>(*pool.amount.reserved);
    if (key.second == 0) {
      current_reserved = reserved;
      continue;
    }
    const std::int64_t used = live.bytes_in_pool(device, key.second);
    of_current -= used;
    bytes += std::max<std::int64_t>(0, reserved - used);
  }
  bytes += std::max<std::int64_t>(0, current_reserved - of_current);
  const auto graphs = graphs_.find(device);
  return bytes + (graphs == graphs_.end() ? 0 : static_cast<std::int64_t>(*graphs->second.amount.reserved));
}

void DriverFigures::settle(const LiveTable& live) {
  for (const auto& [_, sample] : pending_) settle(sample, live);
  pending_.clear();
}

void DriverFigures::settle(const SampleRecord& sample, const LiveTable& live) {
  DeviceFigures& figures = devices_[*sample.device];
  const bool is_first_launch = sample.why == schema::why::launch && !has_launched_;
  has_launched_ = has_launched_ || is_first_launch;
  figures.moments.push_back(
      {sample.ns, sample.why, *sample.total - *sample.free, *sample.free, ledger(*sample.device, live)});
  auto cause = causes_.extract({sample.tid, sample.why});
  if (figures.moments.size() < 2 || !can_cost_memory(sample.why)) return;
  const DriverMoment& before = figures.moments.end()[-2];
  const std::int64_t rise = figures.moments.back().unexplained() - before.unexplained();
  if (rise <= 0) return;
  figures.rises.push_back({rise, sample.ns, before.ns, sample.why, is_first_launch,
                           cause ? std::optional(std::move(cause.mapped())) : std::nullopt});
}

std::vector<Reservation> DriverFigures::reservations() const {
  std::vector<Reservation> all;
  for (const auto& [key, pool] : pools_) {
    const auto holder = key.second == 0 ? Reservation::Holder::current_pool : Reservation::Holder::pool;
    all.push_back(reservation(holder, key.first, pool.stack, pool.ns, pool.amount));
  }
  for (const auto& [device, graphs] : graphs_) {
    all.push_back(reservation(Reservation::Holder::graphs, device, 0, graphs.ns, graphs.amount));
  }
  return all;
}

}  // namespace gpumem
