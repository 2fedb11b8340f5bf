// The CUDAs that one test body can run over. Each gets a test case of its own, so that one that is not here is skipped
// alone, with its reason.
#pragma once

#include <string>
#include <vector>

#include "genuine.hpp"

namespace gpumem::test {

struct Provider {
  enum class Driver { simulated, genuine_without_device, gpu };

  Driver driver;
  std::string driver_version;   // of a genuine driver
  std::string runtime_version;  // empty: the driver alone
  bool simulated_runtime = false;

  std::string name() const;
  // Why it is not here; empty if it is.
  std::string missing() const;
  // Puts its libraries into the program's path.
  void put_under(Stage& stage) const;
  std::filesystem::path runtime_file() const;
  bool has_device() const { return driver != Driver::genuine_without_device; }
  // A genuine runtime knows the simulated driver for what it is, and stops behind cuInit.
  bool allocates() const {
    return has_device() && (runtime_version.empty() || simulated_runtime || driver == Driver::gpu);
  }
};

// The drivers by themselves, and the runtimes with what is underneath.
std::vector<Provider> drivers();
std::vector<Provider> runtimes();

// Registers "SITUATION, over PROVIDER" for each of them. Lives as long as the program.
class ProviderTests {
 public:
  ProviderTests(const char* situation, const std::vector<Provider>& providers, void (*body)(const Provider&),
                const Catch::SourceLineInfo& where);
};

}  // namespace gpumem::test

// OVER_EACH(drivers, "what happens") { … provider … }
#define OVER_EACH(providers, situation) OVER_EACH_NAMED(providers, situation, INTERNAL_CATCH_UNIQUE_NAME(over_each_))
#define OVER_EACH_NAMED(providers, situation, body)                                  \
  static void body(const ::gpumem::test::Provider& provider);                        \
  static const ::gpumem::test::ProviderTests INTERNAL_CATCH_UNIQUE_NAME(registers_)( \
      situation, ::gpumem::test::providers(), body, CATCH_INTERNAL_LINEINFO);        \
  static void body([[maybe_unused]] const ::gpumem::test::Provider& provider)
