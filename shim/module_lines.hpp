// The files of the process's code in the journal.
#pragma once

#include <cstdint>

#include "stack/module_table.hpp"

namespace gpumem {

struct Session;

// Into the newest segment, unless it is there.
void write_module_once(Session& session, Module& module);
// Into that segment, unless it is there. False: it is not.
bool write_module_once(Session& session, Module& module, std::uint32_t segment);
// The module that holds the address, if any, with what has become known of it.
void write_module_again(Session& session, std::uintptr_t address);

}  // namespace gpumem
