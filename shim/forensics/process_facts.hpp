// What the process can say about itself, read from the kernel when its journal begins.
//
// No allocation, no lock, no CUDA. Texts that the kernel does not give stay empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace gpumem {

// The allow-list of environment.def.
inline constexpr const char* recorded_variables[] = {
#define ENVIRONMENT(name) #name,
#include "forensics/environment.def"
#undef ENVIRONMENT
};

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
  char environment[128 * 1024];  // as it was at exec, as many whole variables as fit
  bool has_whole_environment = true;
  // The values in it of recorded_variables; without data where a variable is not in it.
  std::string_view recorded_at_exec[std::size(recorded_variables)];
};

void gather_process_facts(ProcessFacts& facts);

// The n-th NUL-terminated text of a list such as `arguments`; false past the end.
bool nth_text(const char* list, std::size_t size, std::size_t n, std::string_view& text);

enum class Limit : unsigned char { address_space, data, open_files, locked_memory, processes };
// False: unlimited.
bool soft_limit(Limit limit, std::uint64_t& value);

}  // namespace gpumem
