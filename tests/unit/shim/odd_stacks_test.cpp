// Stacks that rules cannot walk, or only with care: never a crash nor a hang, and the answer is libgcc's.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>
#include <thread>

#include "base/arena.hpp"
#include "catch.hpp"
#include "stack/native/own_stack.hpp"
#include "stack_paths_library.hpp"

using namespace gpumem;
using namespace gpumem::test;

namespace {

Tally* in_handler = nullptr;

void capture_twice(Tally& tally) {
  for (int times = 0; times < twice; ++times) tally.capture_and_compare();
}

std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

// Code without unwind data that calls a function: push %rbp; call *%rdi; pop %rbp; ret.
class UndescribedCode {
 public:
  UndescribedCode() {
    const unsigned char code[] = {0x55, 0xff, 0xd7, 0x5d, 0xc3};
    page_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page_, code, sizeof code);
    mprotect(page_, 4096, PROT_READ | PROT_EXEC);
  }
  ~UndescribedCode() { munmap(page_, 4096); }
  void call(void (*function)()) const { reinterpret_cast<void (*)(void (*)())>(page_)(function); }

 private:
  void* page_;
};

}  // namespace

TEST_CASE("a signal handler's stack is libgcc's, on a stack of its own and on the thread's") {
  Arena::set_budget(64 << 20);
  static char memory[64 * 1024];
  const stack_t alternative{memory, 0, sizeof memory};
  REQUIRE(sigaltstack(&alternative, nullptr) == 0);
  for (const int flags : {SA_ONSTACK, 0}) {
    Tally tally;
    in_handler = &tally;
    struct sigaction action {};
    action.sa_flags = flags;
    action.sa_handler = [](int) { capture_twice(*in_handler); };
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    CHECK(tally.captures == 2);
    CHECK(tally.wrong == 0);
    CHECK(tally.by_fallback() == 2);
  }
  signal(SIGUSR1, SIG_DFL);
  const stack_t none{nullptr, SS_DISABLE, 0};
  sigaltstack(&none, nullptr);
}

TEST_CASE("a coroutine's stack is libgcc's, and is not remembered for whoever has that memory next") {
  Arena::set_budget(64 << 20);
  static Tally tally;
  static ucontext_t outside, inside;
  constexpr std::size_t size = 128 * 1024;
  for (int times = 0; times < 3; ++times) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&inside);
    inside.uc_stack = {memory, 0, size};
    inside.uc_link = &outside;
    makecontext(
        &inside, [] { capture_twice(tally); }, 0);
    swapcontext(&outside, &inside);
    munmap(memory, size);
  }
  CHECK(tally.captures == 6);
  CHECK(tally.wrong == 0);
  CHECK(tally.by_memo() == 0);
}

TEST_CASE("a thread's own stack is known from its first to its last byte") {
  const StackBounds main_stack = own_stack(here());
  REQUIRE(main_stack.contains(here()));
  std::thread([main_stack] {
    pthread_attr_t attributes;
    REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
    void* begin = nullptr;
    std::size_t size = 0;
    REQUIRE(pthread_attr_getstack(&attributes, &begin, &size) == 0);
    pthread_attr_destroy(&attributes);
    const StackBounds bounds = own_stack(here());
    CHECK(bounds.lo == reinterpret_cast<std::uintptr_t>(begin));
    CHECK(bounds.hi <= bounds.lo + size);
    CHECK(bounds.contains(here()));
    CHECK_FALSE(own_stack(main_stack.lo).contains(main_stack.lo));
    char* other = new char[4096];
    CHECK(own_stack(reinterpret_cast<std::uintptr_t>(other)).hi == 0);
    delete[] other;
  }).join();
  void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(own_stack(reinterpret_cast<std::uintptr_t>(mapped)).hi == 0);
  munmap(mapped, 4096);
}

TEST_CASE("threads with a small stack and with one that the program gave are walked by rules") {
  Arena::set_budget(64 << 20);
#ifdef __SANITIZE_THREAD__
  constexpr std::size_t of_sanitizer = 1 << 20;  // its variables of each thread lie there too
#else
  constexpr std::size_t of_sanitizer = 0;
#endif
  alignas(16) static char given[128 * 1024 + of_sanitizer];
  for (const bool own_memory : {false, true}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (own_memory) {
      REQUIRE(pthread_attr_setstack(&attributes, given, sizeof given) == 0);
    } else {
      REQUIRE(pthread_attr_setstacksize(&attributes, 16 * 1024 + of_sanitizer) == 0);
    }
    Tally tally;
    pthread_t thread;
    REQUIRE(pthread_create(
                &thread, &attributes,
                [](void* into) -> void* {
                  capture_twice(*static_cast<Tally*>(into));
                  return nullptr;
                },
                &tally) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    CHECK(tally.wrong == 0);
    CHECK(tally.by_rules() == 1);
    CHECK(tally.by_memo() == 1);
  }
}

TEST_CASE("two hundred frames are kept, and more are cut where the caller wants") {
  Arena::set_budget(64 << 20);
  const PathLibrary a(0);
  const auto functions = functions_of({&a});
  for (const unsigned capacity : {65u, max_frames}) {
    for (const unsigned depth : {200u, 280u}) {
      Tally tally;
      tally.request.capacity = capacity;
      const std::vector<unsigned> turns(depth, 5);
      for (int times = 0; times < 4; ++times) follow(functions, turns, tally);
      INFO(capacity << " of " << depth);
      CHECK(tally.wrong == 0);
      CHECK(tally.by_fallback() == 0);
      CHECK(tally.by_memo() >= 1);
    }
  }
}

TEST_CASE("code without unwind data ends a stack as it does for libgcc") {
  Arena::set_budget(64 << 20);
  const UndescribedCode code;
  static Tally tally;
  for (int times = 0; times < 3; ++times) code.call([] { tally.capture_and_compare(); });
  CHECK(tally.captures == 3);
  CHECK(tally.wrong == 0);
  CHECK(tally.by_fallback() == 3);
}

#ifdef __x86_64__

// Each is wrong by the other's rule, which then takes 3 for a return address: the first calls as its last instruction,
// so that the call returns to the second, which a signal stops at its first.
asm(R"(
    .pushsection .text
test_ends_with_a_call:
    .cfi_startproc
    sub $24, %rsp
    .cfi_def_cfa_offset 32
    movq $3, (%rsp)
    movq $3, 16(%rsp)
    call *%rdi
    .cfi_endproc
test_begins_with_a_trap:
    .cfi_startproc
    ud2
    .cfi_endproc
    .popsection
)");
extern "C" void test_ends_with_a_call(void (*does_not_return)());
extern "C" void test_begins_with_a_trap();

TEST_CASE("a frame is walked by the rule of its call, and one that a signal stopped by that of where it stands") {
  Arena::set_budget(64 << 20);
  static sigjmp_buf back;
  static Tally tally;
  static void (*const leave)() = [] {
    tally.capture_and_compare();
    siglongjmp(back, 1);
  };
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { leave(); };
  sigaction(SIGILL, &action, &before);
  for (void (*const last)() : {leave, &test_begins_with_a_trap})
    for (const bool by_rules : {true, false}) {
      tally.request.by_rules = by_rules;
      if (sigsetjmp(back, 1) == 0) test_ends_with_a_call(last);
    }
  sigaction(SIGILL, &before, nullptr);
  CHECK(tally.captures == 4);
  CHECK(tally.wrong == 0);
  CHECK(tally.by_fallback() == 3);
}

#endif

TEST_CASE("while a library may be going, stacks are walked by rules all the same, and none is remembered") {
  Arena::set_budget(64 << 20);
  Tally tally;
  ++unloads_running;
  capture_twice(tally);
  --unloads_running;
  CHECK(tally.wrong == 0);
  CHECK(tally.by_rules() == 2);
}
