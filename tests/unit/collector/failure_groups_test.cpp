
#include "analyze/failure_groups.hpp"
#include "catch.hpp"

using namespace gpumem;

namespace {

constexpr std::uint64_t ms = 1'000'000;

FailureRecord failed_alloc(std::uint64_t ns, std::uint64_t bytes, std::int64_t tid = 1) {
  FailureRecord failure;
  failure.ns = ns;
  failure.tid = tid;
  failure.tried = "alloc";
  failure.api = "cudaMalloc";
  failure.kind = "device";
  failure.device = 0;
  failure.bytes = bytes;
  failure.code = 2;
  return failure;
}

EventRecord success(std::uint64_t ns, std::uint64_t bytes, std::int64_t tid = 1) {
  EventRecord event;
  event.ns = ns;
  event.tid = tid;
  event.op = "alloc";
  event.kind = "device";
  event.device = 0;
  event.bytes = bytes;
  return event;
}

FailureGroups groups_without_frees() {
  return FailureGroups([](const TotalKey&) { return 0; });
}

}  // namespace

TEST_CASE("retries of one thread are one group, which recovered") {
  std::uint64_t freed = 0;
  FailureGroups groups([&freed](const TotalKey&) { return freed; });
  groups.take(failed_alloc(10 * ms, 500), false);
  groups.take(failed_alloc(900 * ms, 500), false);
  freed = 300;
  groups.take(success(1800 * ms, 500));
  const auto found = groups.in_order();
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 2);
  CHECK(found[0].end == Outcome::recovered);
  CHECK(found[0].recovered_ns == 1800 * ms);
  CHECK(found[0].freed_in_between == 300);
}

TEST_CASE("a smaller success, another thread's, or one too late is no recovery") {
  auto groups = groups_without_frees();
  groups.take(failed_alloc(10 * ms, 500), false);
  groups.take(success(20 * ms, 499));
  groups.take(success(20 * ms, 500, 2));
  groups.take(success(1011 * ms, 500));
  CHECK(groups.in_order().front().end == Outcome::given_up);
}

TEST_CASE("a pause of more than a second, or a success, begins a new group") {
  auto groups = groups_without_frees();
  groups.take(failed_alloc(0, 500), false);
  groups.take(failed_alloc(1001 * ms, 500), false);
  groups.take(success(1002 * ms, 500));
  groups.take(failed_alloc(1003 * ms, 500), false);
  CHECK(groups.in_order().size() == 3);
}

TEST_CASE("different sizes, codes and call sites are never one group") {
  auto groups = groups_without_frees();
  groups.take(failed_alloc(1 * ms, 20 << 20), false);
  groups.take(failed_alloc(2 * ms, 3 << 20), false);
  groups.take(failed_alloc(3 * ms, 40 << 20), false);
  auto other_site = failed_alloc(4 * ms, 3 << 20);
  other_site.stack = 9;
  groups.take(other_site, false);
  auto other_code = failed_alloc(5 * ms, 0);
  other_code.code = 1;
  groups.take(other_code, false);
  groups.take(success(6 * ms, 3 << 20));
  const auto found = groups.in_order();
  REQUIRE(found.size() == 5);
  const Outcome expected[] = {Outcome::given_up, Outcome::recovered, Outcome::given_up, Outcome::recovered,
                              Outcome::single};
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].count == 1);
    CHECK(found[i].end == expected[i]);
  }
}

TEST_CASE("a call site that comes down in steps is one group, and recovers with its last size") {
  auto groups = groups_without_frees();
  groups.take(failed_alloc(1 * ms, 1000), false);
  groups.take(failed_alloc(2 * ms, 900), false);
  groups.take(failed_alloc(3 * ms, 810), false);
  groups.take(success(4 * ms, 800));
  groups.take(success(5 * ms, 810));
  const auto found = groups.in_order();
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 3);
  CHECK(found[0].is_shrinking());
  CHECK(found[0].end == Outcome::recovered);
  CHECK(found[0].recovered_ns == 5 * ms);
}

TEST_CASE("failed starts come first") {
  auto groups = groups_without_frees();
  groups.take(failed_alloc(1, 500), false);
  auto start = failed_alloc(5, 0);
  start.tried = "init";
  start.start = true;
  groups.take(start, false);
  CHECK(groups.in_order().front().first.start);
}

TEST_CASE("the same failure again and again is one group") {
  auto groups = groups_without_frees();
  for (int i = 0; i < 64; ++i) {
    auto failure = failed_alloc(i * 5000 * ms, 0);
    failure.tried = "free";
    failure.code = 4;
    groups.take(failure, true);
  }
  const auto found = groups.in_order();
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 64);
  CHECK(found[0].end == Outcome::single);
}

TEST_CASE("a failure knows the process and the machine just after it, or as they were last seen") {
  FailureGroups groups([](const TotalKey&) { return 0; });
  auto first = failed_alloc(10, 100);
  first.tid = 1;
  groups.take(first, false);
  StateRecord state;
  state.tid = 1;
  state.ns = 11;
  state.threads = 5;
  groups.take(state);
  ProbeRecord probe;
  probe.tid = 1;
  probe.ns = 12;
  groups.take(probe);
  auto second = failed_alloc(5'000'000'000, 100);
  second.tid = 2;
  groups.take(second, false);
  state.tid = 3;
  groups.take(state);
  const auto found = groups.in_order();
  REQUIRE(found.size() == 2);
  CHECK(found[0].state->threads == 5);
  CHECK(found[0].probe->ns == 12);
  CHECK_FALSE(found[1].state);
  CHECK(found[1].probe->ns == 12);
}
