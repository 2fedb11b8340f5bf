// Where a test program runs: with which CUDA underneath, and with or without the shim.
//
// A test states what it needs with NEEDS(…). What this machine lacks ends the test as skipped, with the reason;
// ctest recognises the words "SKIPPED: " that skipped() prints.
#pragma once

#include <string>

#include "catch.hpp"
#include "journal.hpp"
#include "process.hpp"
#include "scratch_folder.hpp"

namespace gpumem::test {

enum class Need {
  driver,            // a driver with a device: the simulated one, or the machine's own under scripts/test --gpu
  simulated_driver,  // the simulated driver beside whatever else there is, see provider.hpp
  scripted_driver,   // the simulated driver, because the test tells it what to answer
  runtime,           // a shared runtime library that can allocate
  genuine_runtime,   // NVIDIA's own shared runtime library
  nvcc,              // programs built by nvcc
  python_clients,    // scripts/clients
  pycuda,            // scripts/clients, where PyCUDA could be built
  readelf,
};

// Why a need is not met here; empty if it is.
std::string missing(Need need);

void skipped(const std::string& reason);

// A test that runs, cleanly or not, in its long form.
bool full();

std::filesystem::path shim();
std::filesystem::path collector();
std::filesystem::path source_folder();
std::filesystem::path build_folder();
std::filesystem::path simulated_folder();
// Empty where there is no toolkit.
std::filesystem::path toolkit_folder();
std::string program(const std::string& name);
std::string python_program(const std::string& name);
std::string demo();
std::string client_python();

// The symbols of a list of the shim, by the file of its rows.
std::vector<std::string> listed_symbols(const std::string& file);

// Which CUDA libraries a program finds.
enum class Cuda { none, simulated, genuine_runtime_over_simulated_driver };

class Stage {
 public:
  explicit Stage(Cuda cuda = Cuda::simulated);

  // What the simulated driver shall do, in the words of its script.
  Stage& script(const Line& text);
  Stage& set(const std::string& name, const std::string& value);

  // Once as if the shim did not exist, and once with it preloaded, silent and writing to journals().
  Outcome run_bare(std::vector<std::string> argv) const { return run({std::move(argv), environment_}); }
  Outcome run_traced(std::vector<std::string> argv) const { return run({std::move(argv), traced_environment()}); }
  Outcome run(Command command) const;

  // gpumem, with the same CUDA libraries for what it may run.
  Outcome gpumem(std::vector<std::string> arguments) const;

  const Environment& bare_environment() const { return environment_; }
  Environment traced_environment() const;
  std::filesystem::path journals() const { return scratch_ / "journals"; }
  std::filesystem::path folder() const { return scratch_.path(); }
  Journal journal() const { return read_only_journal(journals()); }

 private:
  ScratchFolder scratch_;
  Environment environment_;
};

}  // namespace gpumem::test

#define NEEDS(need)                                                                               \
  if (const auto reason = ::gpumem::test::missing(::gpumem::test::Need::need); !reason.empty()) { \
    ::gpumem::test::skipped(reason);                                                              \
    return;                                                                                       \
  }
