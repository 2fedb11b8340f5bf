// The first and the last line of a journal.
#pragma once

#include "forensics/process_facts.hpp"
#include "journal/line.hpp"

namespace gpumem {

struct Session;

// `parent`: the session of the process that this one was forked from, or nullptr.
void write_process(Line& line, const Session& session, unsigned n, const Session* parent);
void write_end(Line& line, Session& session);

// ,"env_now":{…} with the variables of the allow-list that have changed since exec; nothing if none has.
void write_changed_environment(Line& line, const ProcessFacts& facts);

}  // namespace gpumem
