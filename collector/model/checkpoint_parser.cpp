#include "model/checkpoint_parser.hpp"

namespace gpumem {
namespace {

template <class Take>
void each_object(const Fields& in, const char* key, Take take) {
  for (const auto& element : in.list(key)) {
    if (!element.is_object()) wrong_type(key, "a list of objects");
    take(Fields(element));
  }
}

ListedBlock parse_block(const nlohmann::json& element) {
  const auto number = [&element](std::size_t i) {
    if (!element[i].is_number_unsigned()) wrong_type("blocks", "a list of blocks");
    return element[i].get<std::uint64_t>();
  };
  if (!element.is_array() || element.size() < 6 || !element[1].is_string()) wrong_type("blocks", "a list of blocks");
  ListedBlock block{number(0), parse_address(element[1].get<std::string>(), "blocks"),
                    number(2), number(3),
                    number(4), static_cast<std::int64_t>(number(5))};
  if (element.size() >= 8) {
    block.owner = number(6);
    block.references = number(7);
  }
  return block;
}

}  // namespace

CheckpointRecord parse_checkpoint(const Fields& in) {
  CheckpointRecord out;
  out.part = in.required_text("part");
  out.number = in.maybe_count("n").value_or(0);
  out.events = in.maybe_count("events").value_or(0);
  out.failures = in.maybe_count("failures").value_or(0);
  out.last_block = in.maybe_count("last_block").value_or(0);
  each_object(in, "contexts", [&out](const Fields& each) {
    out.contexts.push_back({each.count("c"), each.maybe_device()});
  });
  each_object(in, "totals", [&out](const Fields& each) {
    out.totals.push_back({each.maybe_device(), each.required_text("k"), each.count("live"), each.count("peak")});
  });
  each_object(in, "snapshots", [&out](const Fields& each) {
    out.snapshots.push_back({each.maybe_device(), each.count("ns"), each.count("bytes")});
  });
  out.blocks = in.maybe_count("blocks");
  return out;
}

SiteRecord parse_site(const Fields& in) {
  SiteRecord out;
  out.stack = in.maybe_count("s").value_or(0);
  out.kind = in.required_text("k");
  out.device = in.maybe_device();
  out.live_bytes = in.count("live");
  out.live_blocks = in.count("blocks");
  out.allocated_bytes = in.count("allocated");
  out.allocated_blocks = in.count("allocs");
  out.bytes_at_peak = in.maybe_count("at_peak").value_or(0);
  out.blocks_at_peak = in.maybe_count("at_peak_blocks").value_or(0);
  out.first_ns = in.maybe_count("first").value_or(0);
  out.last_ns = in.maybe_count("last").value_or(0);
  return out;
}

LiveRecord parse_live(const Fields& in) {
  LiveRecord out;
  out.kind = in.required_text("k");
  out.device = in.maybe_device();
  out.context = in.maybe_count("c");
  for (const auto& element : in.list("blocks")) out.blocks.push_back(parse_block(element));
  return out;
}

}  // namespace gpumem
