// What the process can say about itself, read from the kernel when its journal begins.
//
// No allocation, no lock, no CUDA. Texts that the kernel does not give stay empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpumem {

struct ProcessFacts {
  int pid = 0, parent = 0;
  unsigned user = 0;
  std::uint64_t start_ticks = 0;  // since boot
  char host[256] = "";
  char executable[4096] = "";
  char directory[4096] = "";
  char kernel_driver[512] = "";
  std::size_t arguments_size = 0, environment_size = 0;
  char arguments[32 * 1024];     // NUL-separated, as much of them as fits
  char environment[128 * 1024];  // as it was at exec
};

void gather_process_facts(ProcessFacts& facts);

// The n-th NUL-terminated text of a list such as `arguments`; false past the end.
bool nth_text(const char* list, std::size_t size, std::size_t n, std::string_view& text);

// The value of a variable at exec; false if it was not set.
bool environment_at_exec(const ProcessFacts& facts, std::string_view name, std::string_view& value);

// The allow-list of environment.def.
inline constexpr const char* recorded_variables[] = {
#define ENVIRONMENT(name) #name,
#include "forensics/environment.def"
#undef ENVIRONMENT
};

enum class Limit : unsigned char { address_space, data, open_files, locked_memory, processes };
// False: unlimited.
bool soft_limit(Limit limit, std::uint64_t& value);

}  // namespace gpumem
