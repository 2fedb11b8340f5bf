// What a call that succeeded has done: to the tables, and as a line.
//
// Order, so that another thread that gets the same address at once cannot be mistaken: an allocation enters the live
// table after the real call; what ends left its table before (recorder.cpp).
#pragma once

#include <cstdint>
#include <string_view>

#include "intercept/call.hpp"
#include "journal/records.hpp"

namespace gpumem {

struct Session;

// What happens, in the journal's words.
std::string_view op_of(Action action);

// A record with what every call tells of itself.
CallRecord describe(const Call& call, std::string_view op);
EventRecord event_of(const Call& call, std::string_view op);

// Where the calling thread's memory goes. A context that no call announced is announced here.
struct Place {
  std::uint32_t context = 0;
  int device = no_device;
};
Place current_place(Session& session, const Call& call);

void record_success(Session& session, const Call& call);

}  // namespace gpumem
