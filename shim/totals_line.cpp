#include "totals_line.hpp"

#include "intercept/call.hpp"
#include "intercept/routes.hpp"
#include "session.hpp"

namespace gpumem {

void write_counts(Line& line, const Session& session) {
  line.number("events", session.events.load());
  line.number("failures", session.failures.load());
  line.key("lost");
  line.put("{");
  line.number("lines", session.lost_lines.load());
  line.number("blocks", session.lost_blocks.load());
  line.number("stacks", session.lost_stacks.load());
  line.put("}");
}

void write_totals(Line& line, Session& session, std::string_view type) {
  const Stamp stamp = session.stamp();
  line.open(type, stamp.ns, stamp.tid);
  write_counts(line, session);
  line.key("stacks");
  line.put("{");
  const auto by = [&](StackSource source) { return session.stacks_by[static_cast<unsigned>(source)].load(); };
  line.number("memo", by(StackSource::memo));
  line.number("rules", by(StackSource::rules));
  line.number("fallback", by(StackSource::fallback));
  line.number("checked", session.stacks_checked.load());
  line.number("wrong", session.stacks_wrong.load());
  line.put("}");
  line.key("calls");
  line.put("{");
  for (unsigned i = 0; i < api_count; ++i)
    if (const std::uint64_t calls = call_count(static_cast<ApiId>(i)))
      line.number(api_name(static_cast<ApiId>(i)), calls);
  line.put("}");
  line.key("routes");
  line.put("{");
  for (const Route route : all_routes) line.number(route_name(route), routes_seen(route));
  line.put("}");
  line.key("peaks");
  line.put("[");
  for (int device = no_device; device < Totals::max_devices - 1; ++device) {
    for (unsigned k = 0; k < memory_kind_count; ++k) {
      const auto kind = static_cast<MemoryKind>(k);
      const std::uint64_t peak = session.totals.peak(device, kind);
      if (peak == 0) continue;
      line.separate();
      line.put("{");
      if (device != no_device) line.signed_number("d", device);
      line.word("k", kind_name(kind));
      line.number("bytes", peak);
      line.put("}");
    }
  }
  line.put("]");
  line.close();
}

}  // namespace gpumem
