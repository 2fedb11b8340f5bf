#include <execinfo.h>
#include <gnu/libc-version.h>
#include <memory>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "stack/module_table.hpp"
#include "stack/stack_table.hpp"
#include "stack/unwinder.hpp"

using namespace gpumem;

namespace {

std::unique_ptr<StackTable> table_with_memory() {
  Arena::set_budget(64 << 20);
  return std::make_unique<StackTable>();
}

void* frame(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

}  // namespace

TEST_CASE("the same stack has the same number, any other stack another") {
  auto table = table_with_memory();
  void* a[] = {frame(1), frame(2), frame(3)};
  void* b[] = {frame(1), frame(2), frame(4)};
  const Stack* first = table->intern(a, 3, 0);
  REQUIRE(first != nullptr);
  CHECK(first->number == 1);
  CHECK(table->intern(a, 3, 0) == first);
  CHECK(table->intern(b, 3, 0) != first);
  CHECK(table->intern(a, 2, 0) != first);
  CHECK(table->intern(a, 3, 1) != first);
  CHECK(table->intern(a, 0, 0) == nullptr);
}

TEST_CASE("numbers stay the same while the table grows") {
  auto table = table_with_memory();
  std::vector<std::uint32_t> numbers;
  for (std::uintptr_t i = 1; i <= 5000; ++i) {
    void* frames[] = {frame(i), frame(i * 7)};
    numbers.push_back(table->intern(frames, 2, 0)->number);
  }
  for (std::uintptr_t i = 1; i <= 5000; ++i) {
    void* frames[] = {frame(i), frame(i * 7)};
    REQUIRE(table->intern(frames, 2, 0)->number == numbers[i - 1]);
  }
}

TEST_CASE("threads that meet the same stacks agree on their numbers") {
  auto table = table_with_memory();
  constexpr int threads = 4, stacks = 3000;
  std::vector<std::vector<std::uint32_t>> seen(threads);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (std::uintptr_t i = 1; i <= stacks; ++i) {
        void* frames[] = {frame(i), frame(i + 1)};
        seen[static_cast<std::size_t>(t)].push_back(table->intern(frames, 2, 0)->number);
      }
    });
  for (std::thread& worker : workers) worker.join();
  for (int t = 1; t < threads; ++t) CHECK(seen[static_cast<std::size_t>(t)] == seen[0]);
}

TEST_CASE("without memory left a stack has no entry") {
  Arena::set_budget(0);
  auto table = std::make_unique<StackTable>();
  void* frames[] = {frame(1)};
  CHECK(table->intern(frames, 1, 0) == nullptr);
}

TEST_CASE("a thread's stack is glibc's backtrace without the frames of this object") {
  StackCapture ours;
  void* reference[64];
  capture_stack({.capacity = 64}, ours);
  const int expected = backtrace(reference, 64);
  const LoadedObject self = this_object();
  std::vector<void*> foreign;
  for (int i = 0; i < expected; ++i)
    if (!self.contains(reinterpret_cast<std::uintptr_t>(reference[i]))) foreign.push_back(reference[i]);
  REQUIRE(foreign.size() >= 2);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  foreign.erase(foreign.begin());  // its own backtrace() around glibc's
#endif
  CHECK(std::vector<void*>(ours.addresses, ours.addresses + ours.depth) == foreign);
}

TEST_CASE("addresses are given to the file that holds them, whose number does not change") {
  Arena::set_budget(64 << 20);
  auto modules = std::make_unique<ModuleTable>();
  modules->update();
  Module* libc = modules->find(reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version));
  REQUIRE(libc != nullptr);
  CHECK(std::string(libc->path).find("libc.so.6") != std::string::npos);
  CHECK(libc->build_id_size == 20);
  Module* program = modules->find(reinterpret_cast<std::uintptr_t>(&frame));
  REQUIRE(program != nullptr);
  CHECK(std::string(program->path).find("shim_unit_tests") != std::string::npos);
  modules->update();
  CHECK(modules->find(reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version)) == libc);
  int on_stack = 0;
  CHECK(modules->find(reinterpret_cast<std::uintptr_t>(&on_stack)) == nullptr);
}
