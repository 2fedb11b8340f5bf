// How often states and probes may come: the second of a kind of failure, and the hundredth part of the time.
#include "track/picture_limits.hpp"
#include "catch.hpp"

using namespace gpumem;

namespace {

constexpr std::uint64_t ms = ns_per_millisecond, start = 5000 * ms;

}  // namespace

TEST_CASE("picture limits: a state for each kind of failure, again after a second") {
  PictureLimits limits;
  CHECK(limits.state_due(1, 2, 0, start));
  CHECK_FALSE(limits.state_due(1, 2, 0, start + 999 * ms));
  CHECK(limits.state_due(2, 2, 0, start));
  CHECK(limits.state_due(1, 3, 0, start));
  CHECK(limits.state_due(1, 2, 1, start));
  CHECK(limits.state_due(1, 2, 0, start + 1000 * ms));
  CHECK_FALSE(limits.state_due(1, 2, 0, start + 1999 * ms));
}

TEST_CASE("picture limits: more kinds than are remembered push out the oldest") {
  PictureLimits limits;
  for (unsigned api = 0; api < 17; ++api) CHECK(limits.state_due(api, 2, 0, start + api * ms));
  for (unsigned api = 1; api < 17; ++api) CHECK_FALSE(limits.state_due(api, 2, 0, start + 20 * ms));
  CHECK(limits.state_due(0, 2, 0, start + 21 * ms));
}

TEST_CASE("picture limits: the first probe at once, the next when it has paid for the last") {
  PictureLimits limits;
  CHECK(limits.begin_probe(start, 2500 * ms));
  CHECK_FALSE(limits.begin_probe(start + 5 * ms, 2500 * ms));
  limits.end_probe(start, start + 10 * ms);
  CHECK_FALSE(limits.begin_probe(start + 999 * ms, 2500 * ms));
  CHECK(limits.begin_probe(start + 1000 * ms, 2500 * ms));
}

TEST_CASE("picture limits: a probe that never ended has paid after a hundred times its longest duration") {
  PictureLimits limits;
  CHECK(limits.begin_probe(start, 20 * ms));
  CHECK_FALSE(limits.begin_probe(start + 1999 * ms, 20 * ms));
  CHECK(limits.begin_probe(start + 2000 * ms, 20 * ms));
}
