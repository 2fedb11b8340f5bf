// From calls to event lines, and from the calling thread to its place.
#pragma once

#include <cstdint>
#include <string_view>

#include "intercept/call.hpp"
#include "journal/records.hpp"

namespace gpumem {

struct Session;

// A record with what every call tells of itself.
CallRecord describe(const Call& call, std::string_view op);
EventRecord event_of(const Call& call, std::string_view op);

// Where the calling thread's memory goes. A context that no call announced is announced here.
struct Place {
  std::uint32_t context = 0;
  int device = no_device;
};
Place current_place(Session& session, const Call& call);

// Writes that a context was born, with what `record` already says of the call.
void write_context(Session& session, EventRecord record, const Context& context);

}  // namespace gpumem
