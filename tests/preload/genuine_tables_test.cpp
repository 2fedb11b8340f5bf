// The private tables of a driver are the driver's: same pointers, same contents, however the function was found.
#include "genuine.hpp"

using namespace gpumem::test;

namespace {

void same_tables(Stage& stage, std::size_t tables) {
  const auto bare = stage.run_bare({program("export_tables")});
  REQUIRE(bare.status == 0);
  CHECK(stage.run_traced({program("export_tables")}) == bare);
  // Both ways to the function found it, and it gave tables that have something in them.
  CHECK(bare.out.find("missing") == std::string::npos);
  std::size_t found = 0;
  for (std::size_t at = 0; (at = bare.out.find(": 0 libcuda.so.1+0x", at)) != std::string::npos; ++at) ++found;
  CHECK(found == 2 * tables);
}

void same_tables_of_genuine_driver(const std::string& version, std::size_t tables) {
  NEEDS_PART(missing_driver(version));
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", genuine_driver(version));
  same_tables(stage, tables);
}

}  // namespace

TEST_CASE("genuine tables: those of driver 550 are handed out untouched") { same_tables_of_genuine_driver("550", 7); }
TEST_CASE("genuine tables: those of driver 535 are handed out untouched") { same_tables_of_genuine_driver("535", 6); }

TEST_CASE("genuine tables: that of the simulated driver is handed out untouched") {
  NEEDS(scripted_driver);
  Stage stage;
  same_tables(stage, 1);
}
