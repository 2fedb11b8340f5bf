// Stacks that are not what their code says: walks end there, and nothing is followed.
#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>
#include <cstdlib>

#include "base/arena.hpp"
#include "catch.hpp"
#include "stack/native/step_guard.hpp"
#include "stack_paths_library.hpp"

using namespace gpumem;
using namespace gpumem::test;

namespace {

// What stands in a frame, whose caller goes on from there. 0: what belongs there.
struct SavedRegisters {
  std::uintptr_t rbp, return_address;
};

StackRequest wanted;
StackCapture captured;

// A capture below the C library, below a frame in which something else stands.
__attribute__((noinline)) void capture_below(const SavedRegisters& instead) {
  auto& saved = *static_cast<volatile SavedRegisters*>(__builtin_frame_address(0));
  const std::uintptr_t rbp = saved.rbp, return_address = saved.return_address;
  if (instead.rbp != 0) saved.rbp = instead.rbp;
  if (instead.return_address != 0) saved.return_address = instead.return_address;
  int two[] = {2, 1};
  std::qsort(two, 2, sizeof *two, [](const void*, const void*) {
    capture_stack(wanted, captured);
    return 0;
  });
  saved.rbp = rbp;
  saved.return_address = return_address;
}

// Its rules need rbp.
__attribute__((noinline)) void capture_below_frame_with_rbp(const SavedRegisters& instead) {
  volatile auto* room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(twice) * 64));
  room[0] = 1;
  capture_below(instead);
  room[1] = 2;
}

constexpr unsigned of_c_library = 2;  // frames of qsort, or more

std::vector<void*> inner_frames() {
  REQUIRE(captured.depth >= of_c_library);
  return {captured.addresses, captured.addresses + of_c_library};
}

void check_that_broken_stacks_end(StackSource source) {
  Arena::set_budget(64 << 20);
  void* unreadable = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto no_place = reinterpret_cast<std::uintptr_t>(unreadable);
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) & ~std::uintptr_t{15};
  capture_below_frame_with_rbp({});
  const unsigned whole = captured.depth;
  const std::vector<void*> below = inner_frames();
  CHECK(whole > of_c_library);
  for (const SavedRegisters instead : {SavedRegisters{0, 3},
                                       {0, no_place},
                                       {0, no_place - 4},
                                       {0, ~std::uintptr_t{0}},
                                       {8, 0},
                                       {no_place, 0},
                                       {stack - 12288, 0},
                                       {~std::uintptr_t{7}, 0}}) {
    INFO(std::hex << instead.rbp << " " << instead.return_address);
    for (int times = 0; times < twice; ++times) {
      errno = 12345;
      capture_below_frame_with_rbp(instead);
      CHECK(errno == 12345);
      CHECK(captured.source == source);
      CHECK(captured.depth < whole);
      CHECK(inner_frames() == below);
      for (unsigned i = 0; i < captured.depth; ++i)
        CHECK(reinterpret_cast<std::uintptr_t>(captured.addresses[i]) != instead.return_address);
    }
  }
  munmap(unreadable, 4096);
}

void on_a_stack_of_its_own(void (*function)()) {
  static ucontext_t outside, inside;
  constexpr std::size_t size = 1 << 20;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  getcontext(&inside);
  inside.uc_stack = {memory, 0, size};
  inside.uc_link = &outside;
  makecontext(&inside, function, 0);
  swapcontext(&outside, &inside);
  munmap(memory, size);
}

}  // namespace

TEST_CASE("a thread's own stack whose frames are not what their code says ends there") {
  wanted = {};
  check_that_broken_stacks_end(StackSource::rules);
}

TEST_CASE("a thread's own stack, broken, that libgcc has to walk ends there") {
  wanted = {.by_rules = false};
  check_that_broken_stacks_end(StackSource::fallback);
}

TEST_CASE("a coroutine's broken stack, which libgcc walks, ends there") {
  wanted = {};
  on_a_stack_of_its_own([] { check_that_broken_stacks_end(StackSource::fallback); });
}

TEST_CASE("what is no code, though it can be read, is not among the frames of a walk by rules") {
  Arena::set_budget(64 << 20);
  wanted = {};
  capture_below_frame_with_rbp({0, reinterpret_cast<std::uintptr_t>(&captured)});
  REQUIRE(captured.depth >= of_c_library);
  for (unsigned i = 0; i < captured.depth; ++i) CHECK(captured.addresses[i] != &captured);
}

TEST_CASE("a guard of libgcc's steps reads what can be read, and nothing else") {
  RuleCache rules;
  StepGuard guard(rules);
  auto* pages =
      static_cast<unsigned char*>(mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + 4096, 4096, PROT_NONE);
  const auto end = reinterpret_cast<std::uintptr_t>(pages) + 4096;
  pages[4096 - 8] = 7;
  std::uintptr_t value = 0;
  CHECK_FALSE(guard.read(8, value));
  CHECK(guard.read(end - 8, value));
  CHECK(value == 7);
  CHECK_FALSE(guard.read(end - 4, value));
  CHECK_FALSE(guard.read(end, value));
  CHECK(guard.read(end - 4096, value));
  CHECK(value == 0);
  const UnwindRule rule{.frame_size = 16, .end = UnwindRule::FrameEnd::from_rsp};
  CHECK(guard.can_step_up(rule, {0, end - 64, 0}));
  CHECK(guard.read(end - 64, value));
  CHECK_FALSE(guard.read(end - 72, value));
  CHECK_FALSE(guard.read(end - 4096, value));
  munmap(pages, 2 * 4096);
}
