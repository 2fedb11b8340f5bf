// What the driver says that it has handed out, beside what the calls explain.
#pragma once

#include <string_view>

#include "intercept/call.hpp"

namespace gpumem {

struct Session;

// Writes the driver's figures for the current context's device. Nothing is asked where that could disturb: without a
// device, in an inherited or exiting process, while a capture is open.
void sample(Session& session, int device, std::string_view why);

// The same for a pool that the program has just named in a call: another thread may destroy any other at any time, so
// only the device's default pool is asked about otherwise.
void sample_pool(Session& session, std::uint64_t number, std::uint64_t handle, std::string_view why);

// Writes what memory the process itself has, and what bounds it.
void sample_host(Session& session, std::string_view why);

// A sample() and a sample_host() if the last one is GPUMEM_SAMPLE_EVERY ago, and the counters if they are due. The call
// tells the time.
void sample_if_due(Session& session, const Call& call, int device);

}  // namespace gpumem
