// Stacks in the journal, with the files and the Python places that they lead to.
#pragma once

#include <cstdint>

#include "stack/module_table.hpp"

namespace gpumem {

struct Session;

void write_module_once(Session& session, Module& module);
// The module that holds the address, if any, with what has become known of it.
void write_module_again(Session& session, std::uintptr_t address);

// The calling thread's stack, written to the journal before anything refers to it. 0: none could be taken.
std::uint32_t stack_here(Session& session);

}  // namespace gpumem
