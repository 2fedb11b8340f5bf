#include "analyze/failure_groups.hpp"

#include "analyze/diagnosis.hpp"
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
  const auto found = groups.finish();
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
  CHECK(groups.finish().front().end == Outcome::given_up);
}

TEST_CASE("a pause of more than a second, or a success, begins a new group") {
  auto groups = groups_without_frees();
  groups.take(failed_alloc(0, 500), false);
  groups.take(failed_alloc(1001 * ms, 500), false);
  groups.take(success(1002 * ms, 500));
  groups.take(failed_alloc(1003 * ms, 500), false);
  CHECK(groups.finish().size() == 3);
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
  const auto found = groups.finish();
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
  const auto found = groups.finish();
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
  CHECK(groups.finish().front().first.start);
}

TEST_CASE("the same failure again and again is one group") {
  auto groups = groups_without_frees();
  for (int i = 0; i < 64; ++i) {
    auto failure = failed_alloc(i * 5000 * ms, 0);
    failure.tried = "free";
    failure.code = 4;
    groups.take(failure, true);
  }
  const auto found = groups.finish();
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 64);
  CHECK(found[0].end == Outcome::single);
}

TEST_CASE("the verdict on an allocation follows the driver's figures") {
  const ProcessRecord process;
  const Modules none;
  FailureGroup group;
  group.first = failed_alloc(1, 1 << 30);
  group.count = 1;

  CHECK(diagnose(group, {process, none}).sureness == Certainty::open);
  CHECK_THAT(diagnose(group, {process, none}).verdict, ContainsSubstring("no figure of free memory"));

  group.driver = SampleRecord{{}, 0, 1 << 20, 1ull << 34, "failure"};
  CHECK(diagnose(group, {process, none}).sureness == Certainty::proven);
  CHECK_THAT(diagnose(group, {process, none}).verdict, ContainsSubstring("1.0 GiB asked, 1.0 MiB free"));

  group.driver->free = 1ull << 33;
  CHECK(diagnose(group, {process, none}).sureness == Certainty::open);
  CHECK(diagnose(group, {process, none}).candidates.size() == 2);

  group.first.kind = "pinned";
  CHECK_THAT(diagnose(group, {process, none}).verdict, ContainsSubstring("host memory"));
}

TEST_CASE("a request larger than the device can never fit, with or without a figure of the driver") {
  const ProcessRecord process;
  const Modules none;
  FailureGroup group;
  group.first = failed_alloc(1, 1ull << 40);
  group.count = 1;
  group.device_total = 1ull << 34;
  CHECK(diagnose(group, {process, none}).sureness == Certainty::proven);
  CHECK_THAT(diagnose(group, {process, none}).verdict, ContainsSubstring("can never fit"));
  group.device_total.reset();
  group.driver = SampleRecord{{}, 0, 1ull << 33, 1ull << 34, "failure"};
  CHECK_THAT(diagnose(group, {process, none}).verdict, ContainsSubstring("can never fit"));
}

TEST_CASE("what nobody in this process holds is named, and where it is large so is nvidia-smi") {
  const ProcessRecord process;
  const Modules none;
  FailureGroup group;
  group.first = failed_alloc(1, 4ull << 30);
  group.count = 1;
  group.driver = SampleRecord{{}, 0, 2ull << 30, 16ull << 30, "failure"};
  group.ledger = static_cast<std::int64_t>(5ull << 30);
  const auto why = diagnose(group, {process, none});
  CHECK_THAT(why.evidence.back(), ContainsSubstring("9.0 GiB are held by something else"));
  CHECK_THAT(why.advice, ContainsSubstring("nvidia-smi"));
  group.ledger = static_cast<std::int64_t>(14ull << 30) - 5;
  const auto small = diagnose(group, {process, none});
  CHECK_THAT(small.evidence.back(), ContainsSubstring("5 bytes are held by something else"));
  CHECK(small.advice.find("nvidia-smi") == std::string::npos);
}
