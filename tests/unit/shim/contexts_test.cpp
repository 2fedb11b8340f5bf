#include "track/contexts.hpp"

#include <memory>

#include "catch.hpp"
#include "track/totals.hpp"

using namespace gpumem;

TEST_CASE("a handle that comes again after its end is another context") {
  auto contexts = std::make_unique<Contexts>();
  bool fresh = false;
  const Context first = contexts->born(0xc0, 0, true, fresh);
  CHECK(fresh);
  CHECK(contexts->born(0xc0, 0, true, fresh).number == first.number);
  CHECK_FALSE(fresh);
  Context ended;
  REQUIRE(contexts->end(0xc0, ended));
  CHECK(ended.number == first.number);
  CHECK_FALSE(contexts->end(0xc0, ended));
  CHECK(contexts->born(0xc0, 0, true, fresh).number != first.number);
  CHECK(fresh);
}

TEST_CASE("a context that has not ended after all keeps its number, unless its handle has a new owner") {
  auto contexts = std::make_unique<Contexts>();
  bool fresh = false;
  const Context first = contexts->born(0xc0, 0, false, fresh);
  Context ended, found;
  REQUIRE(contexts->end(0xc0, ended));
  contexts->restore(ended);
  REQUIRE(contexts->find(0xc0, found));
  CHECK(found.number == first.number);
  REQUIRE(contexts->end(0xc0, ended));
  const Context second = contexts->born(0xc0, 0, false, fresh);
  contexts->restore(ended);
  REQUIRE(contexts->find(0xc0, found));
  CHECK(found.number == second.number);
}

TEST_CASE("primary contexts are found by device, others are not") {
  auto contexts = std::make_unique<Contexts>();
  bool fresh = false;
  contexts->born(1, 0, false, fresh);
  const Context primary = contexts->born(2, 1, true, fresh);
  Context found;
  CHECK_FALSE(contexts->find_primary(0, found));
  REQUIRE(contexts->find_primary(1, found));
  CHECK(found.number == primary.number);
}

TEST_CASE("past its capacity a table of contexts says unknown and recovers") {
  auto contexts = std::make_unique<Contexts>();
  bool fresh = false;
  for (std::size_t i = 1; i <= Contexts::capacity; ++i) REQUIRE(contexts->born(i, 0, false, fresh).number != 0);
  CHECK(contexts->born(99999, 0, false, fresh).number == 0);
  CHECK_FALSE(fresh);
  Context ended;
  REQUIRE(contexts->end(7, ended));
  CHECK(contexts->born(99999, 0, false, fresh).number == Contexts::capacity + 1);
}

TEST_CASE("totals keep devices and kinds apart, remember the peak and never go below zero") {
  auto totals = std::make_unique<Totals>();
  CHECK(totals->add(0, MemoryKind::device, 1000) == 1000);
  CHECK(totals->add(0, MemoryKind::device, 500) == 1500);
  CHECK(totals->subtract(0, MemoryKind::device, 1200) == 300);
  CHECK(totals->peak(0, MemoryKind::device) == 1500);
  CHECK(totals->live(1, MemoryKind::device) == 0);
  CHECK(totals->live(0, MemoryKind::pinned) == 0);
  CHECK(totals->live(no_device, MemoryKind::device) == 0);
  CHECK(totals->subtract(0, MemoryKind::device, 10000) == 0);
}
