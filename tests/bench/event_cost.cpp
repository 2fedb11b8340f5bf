// What recording one call costs the program: event_cost [--json]. Run under the shim, over the empty driver.
//
// Hook entry to exit, the call itself excluded; beside it U, the bare unwinder on the same stack, and C, one clock
// reading.
#include <cstring>

#include "measuring.hpp"

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemFree_v2(std::uint64_t);
int bare_allocate(std::uint64_t*, std::size_t);
int bare_free(std::uint64_t);
}

namespace {

constexpr int rounds = 41, repetitions = 64;

struct Costs {
  int depth = 0;
  bench::Sample unwind, allocation, release, bare_allocation, bare_release;

  double of_allocation() const { return allocation.median() - bare_allocation.median(); }
  double of_release() const { return release.median() - bare_release.median(); }
};

void measure_here(Costs& costs) {
  std::array<std::uint64_t, repetitions> blocks{};
  const auto allocate = [&](int i) { cuMemAlloc_v2(&blocks[static_cast<std::size_t>(i)], 4096); };
  const auto release = [&](int i) { cuMemFree_v2(blocks[static_cast<std::size_t>(i)]); };
  costs.unwind.values.push_back(bench::burst(repetitions, [](int) { bench::bare_unwind(); }));
  costs.allocation.values.push_back(bench::burst(repetitions, allocate));
  costs.release.values.push_back(bench::burst(repetitions, release));
  costs.bare_allocation.values.push_back(
      bench::burst(repetitions, [&](int i) { bare_allocate(&blocks[static_cast<std::size_t>(i)], 4096); }));
  costs.bare_release.values.push_back(
      bench::burst(repetitions, [&](int i) { bare_free(blocks[static_cast<std::size_t>(i)]); }));
}

}  // namespace

int main() {
  void* context = nullptr;
  if (cuInit(0) != 0 || cuDevicePrimaryCtxRetain(&context, 0) != 0 || cuCtxSetCurrent(context) != 0) return 1;
  std::array<Costs, 3> all;
  all[0].depth = 10, all[1].depth = 30, all[2].depth = 60;
  bench::Sample clock;
  for (int round = 0; round < rounds; ++round) {
    for (Costs& costs : all) {
      const auto here = [&] { measure_here(costs); };
      // The same depth by two ways, as a program's loop would have them.
      if (round % 2 == 0)
        bench::below<0>(costs.depth, here);
      else
        bench::below<20>(costs.depth, here);
    }
    clock.values.push_back(bench::clock_reading_ns());
  }
  for (const Costs& costs : all)
    std::printf("{\"depth\":%d,\"unwind_ns\":%.1f,\"allocation_ns\":%.1f,\"free_ns\":%.1f,\"clock_ns\":%.1f}\n",
                costs.depth, costs.unwind.median(), costs.of_allocation(), costs.of_release(), clock.median());
}
