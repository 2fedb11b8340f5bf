#include "journal/kept_segments.hpp"

#include <map>
#include <random>

#include "catch.hpp"

using namespace gpumem;

namespace {

// The files as KeptSegments would have them.
struct Disk {
  static constexpr std::size_t share = 1000, beginning = 10;

  KeptSegments kept;
  std::map<std::uint32_t, std::size_t> bytes;
  std::uint32_t first_needed = 0;

  void close(std::uint32_t number, std::size_t size = share, std::size_t up_to = beginning) {
    REQUIRE(kept.add({number, size, up_to}));
    bytes[number] = size;
  }

  void make_room(std::size_t needed, std::size_t largest) {
    KeptSegments::Segment which;
    for (KeptSegments::Step step;
         (step = kept.next_step(needed, largest, first_needed, which)) != KeptSegments::Step::none;) {
      REQUIRE(bytes.count(which.number) == 1);
      if (step == KeptSegments::Step::cut) {
        REQUIRE(bytes[which.number] > which.beginning);
        bytes[which.number] = which.beginning;
      } else {
        bytes.erase(which.number);
      }
    }
  }

  std::size_t sum() const {
    std::size_t all = 0;
    for (const auto& [number, size] : bytes) all += size;
    return all;
  }
};

}  // namespace

TEST_CASE("while there is room every segment stays whole") {
  Disk disk;
  for (std::uint32_t i = 0; i < 7; ++i) {
    disk.first_needed = i;
    disk.make_room(Disk::share, 8 * Disk::share);
    disk.close(i);
  }
  CHECK(disk.sum() == 7 * Disk::share);
  CHECK(disk.kept.dropped() == 0);
}

TEST_CASE(
    "a long run keeps its first segment, its newest ones, and evenly spaced beginnings in between, within the bound") {
  Disk disk;
  constexpr std::size_t largest = 8 * Disk::share;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    disk.first_needed = i;
    disk.make_room(Disk::share, largest);
    REQUIRE(disk.sum() + Disk::share <= largest);
    REQUIRE(disk.sum() == disk.kept.bytes());
    disk.close(i);
  }
  CHECK(disk.bytes.at(0) == Disk::share);
  CHECK(disk.bytes.at(4999) == Disk::share);
  CHECK(disk.bytes.at(4998) == Disk::share);
  std::vector<std::uint32_t> beginnings;
  for (const auto& [number, size] : disk.bytes)
    if (size == Disk::beginning) beginnings.push_back(number);
  REQUIRE(beginnings.size() > KeptSegments::most_beginnings / 3);
  CHECK(beginnings.size() <= KeptSegments::most_beginnings + 1);
  const std::uint32_t spacing = beginnings[1] - beginnings[0];
  CHECK(beginnings.front() == spacing);
  for (std::size_t i = 1; i < beginnings.size(); ++i) CHECK(beginnings[i] - beginnings[i - 1] == spacing);
  CHECK(5000 - beginnings.back() < 2 * spacing + 8);
  CHECK(disk.kept.dropped() + disk.bytes.size() - beginnings.size() == 5000);
}

TEST_CASE("what is still needed stays, whatever room it takes") {
  Disk disk;
  for (std::uint32_t i = 0; i < 20; ++i) disk.close(i);
  disk.first_needed = 3;
  disk.make_room(Disk::share, 4 * Disk::share);
  for (std::uint32_t i = 3; i < 20; ++i) CHECK(disk.bytes.at(i) == Disk::share);
  CHECK(disk.bytes.at(0) == Disk::share);
  CHECK(disk.kept.dropped() == 2);
}

TEST_CASE("a segment whose beginning is not known goes as a whole") {
  Disk disk;
  disk.close(0);
  disk.close(1, Disk::share, 0);
  disk.close(2);
  disk.first_needed = 2;
  disk.make_room(Disk::share, 3 * Disk::share);
  CHECK(disk.bytes.count(1) == 0);
  CHECK(disk.bytes.at(2) == Disk::share);
}

TEST_CASE("beginnings give way, too, where they alone are too much") {
  Disk disk;
  for (std::uint32_t i = 0; i < 40; ++i) disk.close(i, Disk::share, Disk::share / 2);
  disk.first_needed = 40;
  disk.make_room(Disk::share, 4 * Disk::share);
  CHECK(disk.sum() <= 3 * Disk::share);
  CHECK(disk.bytes.at(0) == Disk::share);
  CHECK(disk.bytes.size() > 1);
}

TEST_CASE("more segments than can be remembered are refused") {
  KeptSegments kept;
  std::uint32_t number = 0;
  while (kept.add({number, 1, 1})) ++number;
  CHECK(number >= 2 * KeptSegments::most_beginnings);
}
