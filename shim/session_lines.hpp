// Lines that need more than their values: the stack they happened at, the files and devices they speak of.
#pragma once

#include <string_view>

#include "journal/records.hpp"

namespace gpumem {

struct Session;

// Counts it and writes it; with `with_stack`, at the calling thread's stack.
void write_event(Session& session, EventRecord& record, bool with_stack);
// That of cuInit, with the environment as it is then. Remembered for what is forked from here.
void write_start_of_cuda(Session& session, EventRecord& record);
void write_failure(Session& session, FailureRecord& record);

// The libraries of CUDA that were found since the last time.
void write_providers(Session& session);

void write_sample(Session& session, const SampleRecord& record);

void write_device_once(Session& session, int ordinal);

// The libraries that have to do with GPUs, as far as none of them is told already: once CUDA has started, so that
// another process's failed start can be held against this one, and at the first failure.
void write_gpu_libraries(Session& session);

// The devices that the process can see, once. The driver is asked if it may be, and not before it has started.
void write_all_devices(Session& session);

}  // namespace gpumem
