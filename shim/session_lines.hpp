// Lines that need more than their values: the stack they happened at, the files and devices they speak of.
#pragma once

#include <string_view>

#include "journal/records.hpp"

namespace gpumem {

struct Session;

// Counts it and writes it; with `with_stack`, at the calling thread's stack.
void write_event(Session& session, EventRecord& record, bool with_stack);
void write_failure(Session& session, FailureRecord& record);

// The libraries of CUDA that were found since the last time.
void write_providers(Session& session);

void write_sample(Session& session, const SampleRecord& record);

void write_device_once(Session& session, int ordinal);

}  // namespace gpumem
