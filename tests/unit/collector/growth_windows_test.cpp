#include "analyze/growth_windows.hpp"

#include "catch.hpp"

using gpumem::GrowthWindows;

namespace {

bool grows(const GrowthWindows& windows, std::uint64_t end) { return GrowthWindows::keep_growing(windows.minima(end)); }

}  // namespace

TEST_CASE("a leak of one block per step keeps growing, whatever the length of the session") {
  for (const std::uint64_t step : {1ull, 1000ull, 3'600'000'000'000ull}) {
    for (const int steps : {10, 37, 1000}) {
      GrowthWindows windows;
      for (int i = 0; i < steps; ++i) windows.record(500 + i * step, 100 * (i + 1));
      CAPTURE(step, steps);
      CHECK(grows(windows, 500 + steps * step));
    }
  }
}

TEST_CASE("a cache that fills and comes to rest does not keep growing") {
  GrowthWindows windows;
  for (int i = 0; i < 480; ++i) windows.record(1000 + i, 10 * (i + 1));
  CHECK_FALSE(grows(windows, 1000 + 960));
}

TEST_CASE("a block that is allocated once does not grow") {
  GrowthWindows windows;
  windows.record(5, 1 << 20);
  CHECK_FALSE(grows(windows, 1'000'000));
}

TEST_CASE("memory that is given back in each step does not grow, however often it is taken") {
  GrowthWindows windows;
  for (int i = 0; i < 1000; ++i) {
    windows.record(2 * i, 100 + i);
    windows.record(2 * i + 1, 0);
  }
  CHECK_FALSE(grows(windows, 2000));
}

TEST_CASE("a leak below large scratch memory is still seen") {
  GrowthWindows windows;
  for (int i = 0; i < 1000; ++i) {
    windows.record(2 * i, 1'000'000 + i);
    windows.record(2 * i + 1, i + 1);
  }
  CHECK(grows(windows, 2000));
}

TEST_CASE("too short a life decides nothing") {
  GrowthWindows windows;
  windows.record(0, 1);
  windows.record(1, 2);
  windows.record(2, 3);
  CHECK_FALSE(grows(windows, 3));
  CHECK(GrowthWindows().minima(100).empty());
}

TEST_CASE("time that runs slightly backwards does no harm") {
  GrowthWindows windows;
  windows.record(1000, 1);
  windows.record(990, 2);
  windows.record(1001, 3);
  CHECK(windows.minima(500).back() == 2);
}
