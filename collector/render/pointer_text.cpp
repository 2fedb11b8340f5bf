#include "render/pointer_text.hpp"

#include <cstdio>

#include "render/units.hpp"

namespace gpumem {
namespace {

std::string live_text(const ProcessView& view, const CallRecord& call, const PointerHistory::Live& live) {
  std::string text = " is a live " + one_of_kind(live.total.kind) + on_device(live.total) + " from " +
                     view.names.of(live.allocated_by).label + ", and stays live";
  if (live.context && call.context && live.context != call.context) {
    text += "; it belongs to context " + std::to_string(*live.context) + ", and context " +
            std::to_string(*call.context) + " was current";
  }
  return text;
}

std::string ended_text(const ProcessView& view, const PointerHistory::Ended& ended) {
  const std::string how = ended.with_context ? " that had ended with its context at " : " that was freed at ";
  const std::string by = ended.stack > 0 ? ", called by " + view.names.of(ended.stack).label : "";
  return " was a " + one_of_kind(ended.kind) + how + duration_text(ended.ns) + " by " + ended.api + " in thread " +
         std::to_string(ended.tid) + by + "; " + view.names.of(ended.allocated_by).label + " had allocated it";
}

}  // namespace

std::string address_text(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string pointer_text(const ProcessView& view, const CallRecord& call, const PointerHistory& history) {
  const std::string address = address_text(call.address);
  if (history.live) return address + live_text(view, call, *history.live);
  if (history.ended) return address + ended_text(view, *history.ended);
  return address + " was never handed out as far as the journal knows";
}

}  // namespace gpumem
