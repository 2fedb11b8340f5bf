// What gpumem prints for the journals of tests/golden, byte for byte.
//
// GPUMEM_REGENERATE_GOLDEN=1 writes the expected files anew; look at the difference before you commit it.
#include <cstdlib>

#include "catch.hpp"
#include "journal_texts.hpp"
#include "program.hpp"

using namespace gpumem;

namespace {

void compare(const std::string& expected_name, const std::string& output) {
  const auto expected = std::filesystem::path(GOLDEN_FOLDER) / "reports" / expected_name;
  if (std::getenv("GPUMEM_REGENERATE_GOLDEN")) std::ofstream(expected, std::ios::binary) << output;
  CAPTURE(expected_name);
  CHECK(output == read_text(expected));
}

}  // namespace

TEST_CASE("reports of the golden journals are as expected") {
  struct Golden {
    const char* name;
    const char* path;
  };
  const Golden goldens[] = {
      {"training", "gpumem-node7-4242-7000-0.0.jsonl"},
      {"failed-start", "gpumem-node7-5151-7100-0.0.jsonl"},
      {"killed", "gpumem-node7-6161-7200-0.0.jsonl"},
      {"several", "several"},
  };
  for (const auto& each : goldens) {
    for (const std::string command : {"report", "leaks", "peak", "failures"}) {
      // Path and command as typed are part of the output, so they must not depend on where the checkout lies.
      const std::string gpumem =
          "cd '" GOLDEN_FOLDER "/journals' && TZ=UTC PATH=\"$(dirname '" GPUMEM "'):$PATH\" gpumem ";
      const auto text = run_program(gpumem + command + " " + each.path);
      CHECK(text.status == 0);
      CHECK(text.err.empty());
      compare(std::string(each.name) + "." + command + ".txt", text.out);
      const auto json = run_program(gpumem + command + " --format json " + each.path);
      CHECK(json.status == 0);
      compare(std::string(each.name) + "." + command + ".json", json.out);
    }
  }
}
