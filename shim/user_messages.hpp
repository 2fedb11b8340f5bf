// What the shim says on stderr: little, one line each, nothing under GPUMEM_QUIET.
//
// Never into a file that the program has put in the place of its stderr.
#pragma once

#include <string_view>

namespace gpumem {

struct Session;

// To be called when the library is loaded.
void remember_stderr();

// The one line of a process that had events, with the command to type next.
void say_farewell(const Session& session);

// Once per process: what went wrong and with what.
void say_trouble(std::string_view what, std::string_view detail);

// One line for each variable whose value makes no sense.
void say_rejected_settings();

// Only under GPUMEM_DEBUG.
void say_debug(std::string_view what, std::string_view detail);

// Takes this library out of LD_PRELOAD, for GPUMEM_CHILDREN=0.
void leave_ld_preload();

}  // namespace gpumem
