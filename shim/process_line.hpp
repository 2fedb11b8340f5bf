// The first line of a segment, and what other lines say of the process as it does.
#pragma once

#include <initializer_list>
#include <string_view>

#include "forensics/process_facts.hpp"
#include "journal/line.hpp"

namespace gpumem {

struct Session;

// Nanoseconds since 1970.
std::uint64_t wall_clock_ns();

// `parent`: the session of the process that this one was forked from, or nullptr.
void write_process(Line& line, const Session& session, const Session* parent);
// The first line of a later segment.
void write_process_again(Line& line, const Session& session, std::uint32_t segment);
// ,"limits":{…} with these soft limits.
void write_limits(Line& line, std::initializer_list<Limit> limits);

// ,"env_now":{…} with the variables of the allow-list that have changed since exec; nothing if none has. Values that do
// not fit are left out and named instead: the line goes on to fit.
void write_changed_environment(Line& line, const ProcessFacts& facts);

}  // namespace gpumem
