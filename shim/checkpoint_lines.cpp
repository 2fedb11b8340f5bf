#include "checkpoint_lines.hpp"

#include "base/pages.hpp"
#include "journal/schema.hpp"
#include "long_line.hpp"
#include "session.hpp"
#include "stack_lines.hpp"
#include "totals_line.hpp"

namespace gpumem {
namespace {

bool write_checkpoint_line(Session& session, const Line& line) {
  return session.write(line, Journal::Importance::notable, session.checkpoint.segment);
}

template <class WriteElements>
void write_list(Line& line, std::string_view key, WriteElements&& elements) {
  line.key(key);
  line.put("[");
  elements();
  line.put("]");
}

void open_element(Line& line, int device) {
  line.separate();
  line.put("{");
  if (device != no_device) line.signed_number("d", device);
}

void write_amounts(Line& line, Session& session) {
  const Totals& totals = session.totals;
  const auto for_each_device = [](auto&& visit) {
    for (int device = no_device; device < Totals::max_devices - 1; ++device) visit(device);
  };
  write_list(line, "contexts", [&] {
    session.contexts.for_each([&](const Context& context) {
      open_element(line, context.device);
      line.number("c", context.number);
      line.hex("h", context.handle);
      if (context.primary) line.truth("primary", true);
      line.put("}");
    });
  });
  write_list(line, "totals", [&] {
    for_each_device([&](int device) {
      for (unsigned k = 0; k < memory_kind_count; ++k) {
        const auto kind = static_cast<MemoryKind>(k);
        if (totals.peak(device, kind) == 0) continue;
        open_element(line, device);
        line.word("k", kind_name(kind));
        line.number("live", totals.live(device, kind));
        line.number("peak", totals.peak(device, kind));
        line.put("}");
      }
    });
  });
  write_list(line, "summits", [&] {
    for_each_device([&](int device) {
      if (totals.peak(device) == 0) return;
      open_element(line, device);
      line.number("bytes", totals.peak(device));
      line.put("}");
    });
  });
  write_list(line, "snapshots", [&] {
    for_each_device([&](int device) {
      const Sites::Snapshot snapshot = session.sites.snapshot(device);
      if (snapshot.bytes == 0) return;
      open_element(line, device);
      line.number("ns", snapshot.ns);
      line.number("bytes", snapshot.bytes);
      line.put("}");
    });
  });
}

bool alike(const Block& a, const Block& b) {
  return a.kind == b.kind && a.device == b.device && a.context == b.context;
}

void put_block(Line& line, Session& session, const Block& block) {
  const Site* site = session.sites.at(block.site);
  const BlockIdentity identity = block.identity();
  const auto next = [&](std::uint64_t value) {
    line.put(",");
    line.digits(value);
  };
  line.separate();
  line.put("[");
  line.digits(block.number);
  line.put(",");
  line.quoted_hex(identity.address);
  next(block.size);
  next(site != nullptr ? site->stack : 0);
  next(block.born * Block::born_unit_ns);
  next(block.thread);
  if (identity.owner != 0 || block.references != 1) {
    next(identity.owner);
    next(block.references);
  }
  line.put("]");
}

}  // namespace

void open_checkpoint_line(Line& line, const Session& session, std::string_view part) {
  const Stamp stamp = session.stamp();
  line.open(schema::line::checkpoint, stamp.ns, stamp.tid);
  line.word("part", part);
  line.number("n", session.checkpoint.number);
}

bool write_checkpoint_begin(Session& session) {
  constexpr std::size_t line_capacity = 512 * 1024;
  const Pages buffer(line_capacity);
  if (!buffer) return false;
  Line line(buffer.begin(), buffer.size());
  open_checkpoint_line(line, session, schema::part::begin);
  write_counts(line, session);
  line.number("last_block", session.last_block.load());
  write_amounts(line, session);
  line.key("dropped");
  line.put("{");
  line.number("segments", session.journal.dropped_segments());
  line.put("}");
  line.close();
  return write_checkpoint_line(session, line);
}

bool write_checkpoint_end(Session& session) {
  CheckpointState& state = session.checkpoint;
  char buffer[512];
  Line line(buffer, sizeof buffer);
  open_checkpoint_line(line, session, schema::part::end);
  line.number("sites", state.sites);
  if (state.lists_blocks) line.number("blocks", state.blocks);
  line.close();
  return write_checkpoint_line(session, line);
}

bool write_site(Session& session, const Site& site) {
  const auto value = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  if (value(site.allocs) == 0) return true;
  if (site.stack != 0 && !write_stack_once(session, site.stack, session.checkpoint.segment)) return false;
  char buffer[512];
  Line line(buffer, sizeof buffer);
  const Stamp stamp = session.stamp();
  line.open(schema::line::site, stamp.ns, stamp.tid);
  line.number("s", site.stack);
  line.word("k", kind_name(site.kind));
  if (site.device != no_device) line.signed_number("d", site.device);
  line.number("live", value(site.live));
  line.number("blocks", value(site.blocks));
  line.number("allocated", value(site.allocated));
  line.number("allocs", value(site.allocs));
  line.number("at_peak", value(site.at_peak));
  line.number("at_peak_blocks", value(site.blocks_at_peak));
  line.number("first", value(site.first_ns));
  line.number("last", value(site.last_ns));
  line.close();
  ++session.checkpoint.sites;
  return write_checkpoint_line(session, line);
}

// As many of them as are alike and fit; how many, 0 if they could not be written.
std::size_t write_live_line(Session& session, const Block* blocks, std::size_t count, std::uint32_t segment) {
  constexpr std::size_t room_for_block = 160;
  const Stamp stamp = session.stamp();
  LongLine line(session);
  line.open(schema::line::live, stamp.ns, stamp.tid);
  line.word("k", kind_name(blocks[0].kind));
  if (blocks[0].device != no_device) line.signed_number("d", blocks[0].device);
  if (blocks[0].context != 0) line.number("c", blocks[0].context);
  std::size_t taken = 0;
  write_list(line, "blocks", [&] {
    while (taken < count && alike(blocks[0], blocks[taken]) && line.size() + room_for_block < sizeof session.long_line)
      put_block(line, session, blocks[taken++]);
  });
  line.close();
  return session.write(line, Journal::Importance::notable, segment) ? taken : 0;
}

bool in_order_of_lines(const Block& a, const Block& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.device != b.device) return a.device < b.device;
  return a.context < b.context;
}

}  // namespace gpumem
