// NVIDIA's own libraries, in the versions that scripts/genuine fetches and the one of the toolkit, and parts of other
// systems.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stage.hpp"

namespace gpumem::test {

struct GenuineRuntime {
  std::string version;
  std::filesystem::path file;  // a shared library
};

// "11.2", "11.8", "12", "13.0" or "13.5".
GenuineRuntime genuine_runtime(const std::string& version);
std::vector<GenuineRuntime> genuine_runtimes(const std::vector<std::string>& versions);

// Folder with libcuda.so.1 and libnvidia-ml.so.1, for "535" or "550".
std::filesystem::path genuine_driver(const std::string& version);

// Root folder of a system's unpacked packages: "debian-11" or "debian-12-i386".
std::filesystem::path genuine_system(const std::string& name);

// Why one of them is not here; empty if all are.
std::string missing(const GenuineRuntime& runtime);
std::string missing(const std::vector<GenuineRuntime>& runtimes);
std::string missing_driver(const std::string& version);
std::string missing_system(const std::string& name);

// What `gpumem failures` says of a stage's journals, without the line breaks; empty if the command failed.
std::string failures_in_one_line(const Stage& stage);

}  // namespace gpumem::test

#define NEEDS_PART(part)                                           \
  if (const auto reason = ::gpumem::test::part; !reason.empty()) { \
    ::gpumem::test::skipped(reason);                               \
    return;                                                        \
  }
