// Ordinary stacks, remembered or walked by rules, are those that libgcc's unwinder sees: none wrong, none missing.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/arena.hpp"
#include "catch.hpp"
#include "stack/native/memo_pool.hpp"
#include "stack_paths_library.hpp"

using namespace gpumem;
using namespace gpumem::test;

namespace {

constexpr unsigned depth = 30, captures = 20'000;

std::vector<unsigned> random_turns(std::mt19937& random) {
  std::vector<unsigned> turns(depth);
  for (unsigned& turn : turns) turn = static_cast<unsigned>(random());
  return turns;
}

// Turns at the innermost depths come first.
template <class Change>
Tally follow_changing(Change change) {
  Arena::set_budget(64 << 20);
  const PathLibrary a(0), b(1), c(2);
  const auto functions = functions_of({&a, &b, &c});
  std::mt19937 random(7);
  auto turns = random_turns(random);
  Tally tally;
  for (unsigned i = 0; i < captures; ++i) {
    change(turns, i, random);
    follow(functions, turns, tally);
  }
  INFO("memo " << tally.by_memo() << " rules " << tally.by_rules() << " fallback " << tally.by_fallback());
  CHECK(tally.wrong == 0);
  CHECK(tally.captures == captures);
  CHECK(tally.by_fallback() == 0);
  return tally;
}

}  // namespace

TEST_CASE("stacks of the same path are recognised") {
  const Tally tally = follow_changing([](auto&, unsigned, auto&) {});
  CHECK(tally.by_memo() > captures - 10);
}

TEST_CASE("stacks of sixteen paths are recognised") {
  const Tally tally = follow_changing([](std::vector<unsigned>& turns, unsigned i, auto&) {
    for (unsigned at = 0; at < 6; ++at) turns[at] = i * 2654435761u % 16 * 7919 + at;
  });
  CHECK(tally.by_memo() > captures * 9 / 10);
}

TEST_CASE("stacks that differ only in which of two calls an outer function made are told apart") {
  const Tally tally = follow_changing([](std::vector<unsigned>& turns, unsigned, std::mt19937& random) {
    for (unsigned at = depth / 2; at < depth; ++at)
      turns[at] = (turns[at] & ~StackPath::second_call) | (random() & 1 ? StackPath::second_call : 0);
  });
  CHECK(tally.by_rules() > captures / 2);
}

TEST_CASE("stacks with random inner functions are right") {
  follow_changing([](std::vector<unsigned>& turns, unsigned, std::mt19937& random) {
    for (unsigned at = 0; at < 6; ++at) turns[at] = static_cast<unsigned>(random());
  });
}

TEST_CASE("stacks of random functions throughout are right") {
  follow_changing([](std::vector<unsigned>& turns, unsigned, std::mt19937& random) { turns = random_turns(random); });
}

TEST_CASE("what the caller made of a stack is found with it again, until a library goes") {
  Arena::set_budget(64 << 20);
  StackRequest request;
  int mark = 0, found = 0;
  const auto capture = [&](unsigned round) {
    StackCapture captured;
    capture_stack(request, captured);
    if (captured.note == nullptr) return;
    if (*captured.note != nullptr) found = *captured.note == &mark ? found + 1 : -1000;
    *captured.note = &mark;
    if (round == 5) request.generation = ++unloads_done;
  };
  request.generation = ++unloads_done;
  for (unsigned round = 0; round < 10; ++round) capture(round);
  CHECK(found == 8);  // all but the first of each generation
}

TEST_CASE("frames have their ends: each above its predecessor's, and the caller's variables in the caller's frame") {
  Arena::set_budget(64 << 20);
  const PathLibrary a(0);
  const auto functions = functions_of({&a});
  struct Ends {
    StackCapture walked, boost;
  } ends;
  const std::vector<unsigned> turns(10, 4);
  StackPath path{turns.data(), functions.data(), static_cast<unsigned>(functions.size()),
                 [](void* data) {
                   capture_stack({.generation = unloads_done, .by_memo = false}, static_cast<Ends*>(data)->walked);
                   capture_with_boost({.generation = unloads_done}, static_cast<Ends*>(data)->boost);
                 },
                 &ends};
  functions[4](path, 9);
  REQUIRE(ends.walked.source == StackSource::rules);
  REQUIRE(ends.walked.depth == ends.boost.depth);
  REQUIRE(ends.walked.depth >= 10);
  for (unsigned i = 0; i + 1 < ends.walked.depth; ++i) {
    CHECK(ends.walked.ends[i] < ends.walked.ends[i + 1]);
    CHECK(ends.walked.ends[i] == ends.boost.ends[i]);
  }
  const auto here = reinterpret_cast<std::uintptr_t>(&path);
  CHECK(ends.walked.ends[9] <= here);
  CHECK(here < ends.walked.ends[10]);
}

TEST_CASE("libraries that come and go on another thread leave no stale rules") {
  Arena::set_budget(64 << 20);
  std::atomic<bool> done{false};
  std::vector<Tally> tallies(2);
  std::thread loader([&] {
    const std::vector<unsigned> turns{1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 1500; ++i) {
      const PathLibrary library(i % 2);
      const auto functions = functions_of({&library});
      for (int times = 0; times < 3; ++times) follow(functions, turns, tallies[0]);
    }
    done = true;
  });
  const PathLibrary stays(2);
  const auto functions = functions_of({&stays});
  std::mt19937 random(3);
  while (!done) follow(functions, random_turns(random), tallies[1]);
  loader.join();
  CHECK(tallies[0].wrong == 0);
  CHECK(tallies[0].by_rules() > 1000);
  CHECK(tallies[0].by_memo() > 1000);
  CHECK(tallies[1].wrong == 0);
}

TEST_CASE("while a library is going, no rule of it is believed of what comes in its place") {
  Arena::set_budget(64 << 20);
  Tally before, meanwhile;
  std::mt19937 random(5);
  PathLibrary going(0);
  const auto functions_before = functions_of({&going});
  for (int i = 0; i < 200; ++i) follow(functions_before, random_turns(random), before);
  ++unloads_running;
  dlclose(going.release());
  {
    const PathLibrary comes(1);
    const auto functions = functions_of({&comes});
    CHECK(functions[0] == functions_before[0]);
    for (int i = 0; i < 200; ++i) follow(functions, random_turns(random), meanwhile);
  }
  --unloads_running;
  CHECK(before.wrong == 0);
  CHECK(meanwhile.wrong == 0);
  CHECK(meanwhile.by_rules() == meanwhile.captures);
}

TEST_CASE("threads that end leave their memory to others") {
  Arena::set_budget(64 << 20);
  const std::size_t before = memo_pool.count();
  std::atomic<unsigned> wrong{0};
  for (int i = 0; i < 2000; ++i)
    std::thread([&] {
      Tally tally;
      for (int times = 0; times < twice; ++times) tally.capture_and_compare();
      wrong += static_cast<unsigned>(tally.wrong + (tally.by_memo() + tally.by_rules() == 2 ? 0 : 1));
    }).join();
  CHECK(wrong == 0);
  CHECK(memo_pool.count() <= before + 20);
}

TEST_CASE("a forked child's stacks are right, and its threads do not share a memory with it") {
  Arena::set_budget(64 << 20);
  Tally tally;
  const auto capture_twice = [](Tally& into) {
    for (int times = 0; times < twice; ++times) into.capture_and_compare();
  };
  capture_twice(tally);
  const pid_t child = fork();
  if (child == 0) {
    Tally other;
    std::thread([&] { capture_twice(other); }).join();
    capture_twice(tally);
    _exit(tally.wrong == 0 && other.wrong == 0 && other.by_fallback() == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(tally.wrong == 0);
}

TEST_CASE("what a parent made of a stack is not found in a forked child") {
  Arena::set_budget(64 << 20);
  int mark = 0;
  pid_t child = 1;
  for (int round = 0; round < twice + 1; ++round) {
    StackCapture captured;
    capture_stack({.generation = unloads_done}, captured);
    const bool found = captured.note != nullptr && *captured.note == &mark;
    if (captured.note != nullptr) *captured.note = &mark;
    if (child == 0) _exit(found ? 1 : 0);
    if (round == 1) {
      CHECK(found);
      child = fork();
    }
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("stacks of the same calls whose frames lie elsewhere are told apart") {
  Arena::set_budget(64 << 20);
  const PathLibrary a(0);
  const auto functions = functions_of({&a});
  // A variable part in one frame or in the next: all that is left of the other stack is still in memory.
  const std::vector<unsigned> shapes[] = {{5, 5, 5, 29, 5, 5}, {5, 5, 5, 5, 29, 5}};
  struct Ends {
    StackCapture walked, boost;
    unsigned wrong = 0, known = 0;
  } ends;
  for (int round = 0; round < 20 * twice; ++round) {
    StackPath path{shapes[round % 2].data(), functions.data(), StackPath::function_count,
                   [](void* data) {
                     auto& each = *static_cast<Ends*>(data);
                     capture_stack({.generation = unloads_done}, each.walked);
                     capture_with_boost({.generation = unloads_done}, each.boost);
                     if (each.walked.source == StackSource::memo) ++each.known;
                     for (unsigned i = 0; i + 1 < each.walked.depth; ++i)
                       if (each.walked.ends[i] != each.boost.ends[i]) ++each.wrong;
                   },
                   &ends};
    functions[5](path, 5);
  }
  CHECK(ends.wrong == 0);
  CHECK(ends.known > 0);
}
