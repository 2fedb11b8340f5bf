// The lines about the process as a whole: the first one, and its counters in between and at the end.
#pragma once

#include <initializer_list>
#include <string_view>

#include "forensics/process_facts.hpp"
#include "journal/line.hpp"

namespace gpumem {

struct Session;

// `parent`: the session of the process that this one was forked from, or nullptr.
void write_process(Line& line, const Session& session, unsigned n, const Session* parent);
// ,"limits":{…} with these soft limits.
void write_limits(Line& line, std::initializer_list<Limit> limits);

// `type`: schema::line::totals or end.
void write_totals(Line& line, Session& session, std::string_view type);

// ,"env_now":{…} with the variables of the allow-list that have changed since exec; nothing if none has. Values that do
// not fit are left out and named instead: the line goes on to fit.
void write_changed_environment(Line& line, const ProcessFacts& facts);

}  // namespace gpumem
