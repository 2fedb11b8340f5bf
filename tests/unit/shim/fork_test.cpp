#include <sys/wait.h>
#include <unistd.h>

#include "base/process_epoch.hpp"
#include "base/spin_lock.hpp"
#include "catch.hpp"

using namespace gpumem;

namespace {

int status_of_child(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

std::uint32_t epoch_of_parent;
SpinLock held_by_parent;

}  // namespace

TEST_CASE("a forked child has another epoch, its parent keeps its own") {
  epoch_of_parent = process_epoch();
  CHECK(epoch_of_parent == process_epoch());
  CHECK(status_of_child([] {
          return process_epoch() != epoch_of_parent && process_epoch() == process_epoch() ? 0 : 1;
        }) == 0);
  CHECK(epoch_of_parent == process_epoch());
}

TEST_CASE("a lock that was held at fork is free in the child") {
  held_by_parent.lock();
  CHECK(status_of_child([] {
          alarm(10);
          held_by_parent.lock();
          held_by_parent.unlock();
          return 0;
        }) == 0);
  held_by_parent.unlock();
}
