// The copies of cudart in this process, told by how they ask the driver's resolver.
//
// Every cudart since 11.3 first probes the resolver with an empty name and version 0, and then asks for each function
// with the version in which its ABI appeared (measured with 11.8, 12.4 and 13.0). Nobody else does. So a static copy
// inside a program or library is found although it exports nothing.
#pragma once

#include <cstdint>

namespace gpumem {

struct RuntimeCopy {
  std::uintptr_t lo = 0, hi = 0;  // the file that holds it
  int asks = 0;                   // highest version asked for: its own
};

// To be called with each use of a resolver, from the return address of the caller.
void note_resolver_use(const void* caller, const char* symbol, int version);

// The cudart in the file that holds this address; false if it holds none.
bool runtime_copy_at(std::uintptr_t address, RuntimeCopy& copy);

// All of them, by number.
unsigned runtime_copy_count();
RuntimeCopy runtime_copy(unsigned number);

}  // namespace gpumem
