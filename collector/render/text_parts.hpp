// Sentences and pieces that several text reports share.
#pragma once

#include <string>

#include "render/text_reports.hpp"

namespace gpumem {

// "./demo --big (pid 4242)"
std::string process_text(const ProcessAnalysis& process);

// "ended with status 0, 12.3 s after its first CUDA call"
std::string end_text(const ProcessAnalysis& process);

// "cudaFree failed with 2 (CUDA_ERROR_OUT_OF_MEMORY) after 12.0 ms, called by init_gpu (main.cpp:12) through cudaFree"
std::string failure_text(const ProcessView& view, const FailureGroup& group);

// "cuInit, entered at 2.0 ms by thread 7, has not returned for 2.0 s"
std::string in_flight_text(const ProcessView& view, const EventRecord& begin);

// "asked 3 times within 20.0 ms, then got it"; empty where there is nothing to tell
std::string outcome_text(const FailureGroup& group);

// "+120.0 MiB while loading code, called by load (net.cpp:7), between 1.0 s and 1.2 s"
std::string rise_text(const ProcessView& view, const UnexplainedRise& rise);

// With the names of call sites where one is part of the evidence.
Diagnosis diagnosis_of(const ProcessView& view, const ExplainedFailure& each);
Diagnosis diagnosis_of(const ProcessView& view, const ExplainedHang& each);

// "3 blocks (1.5 GiB)", of those that the shim could not keep track of
std::string untracked_text(const ProcessAnalysis& process);

// "segments 1 to 17 of 25 were dropped …", a whole text
// Whether the kernel ended the process for want of memory, and with what figures; else its highest, where CUDA pinned
// some of it. Empty where there is nothing to tell.
std::string host_memory_text(const ProcessAnalysis& process);

std::string gap_text(const ProcessAnalysis& process, const MissingEvents& gap);

// For which time what is live is known, a whole text. Only where that is limited.
std::string live_as_of_text(const ProcessAnalysis& process);

// "GPU 0 (NVIDIA H200, 0000:19:00.0)"
std::string device_text(const ProcessAnalysis& process, DeviceOrdinal device);

// What is live after the last record, per total, in the order of reports.
std::vector<std::pair<TotalKey, Usage>> live_totals(const ProcessAnalysis& process);

// Whether a kind has lines and tables of its own in reports: memory, and what is not known. The rest is summed up.
bool has_own_lines(std::string_view kind);

// The frames of a stack, one a line; folded ones as a count, or all of them if the view asks so.
void add_stack(TextPage& page, const ProcessView& view, std::uint64_t stack, std::size_t indent);

}  // namespace gpumem
