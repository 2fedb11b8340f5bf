// Stands in for the probe, and says in one line how it was started. With WITNESS_PIDS naming a file it adds its number
// to that and stays, and with it a child of its own.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* truth(bool value) { return value ? "true" : "false"; }

bool signals_are_as_for_a_fresh_program() {
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) return false;
    if (sigismember(&blocked, signal) == 1) return false;
  }
  return true;
}

bool is_raised(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur == limit.rlim_max;
}

int open_beside_streams() {
  constexpr int most = 20000;
  int open = 0;
  for (int descriptor = 3; descriptor < most; ++descriptor) open += fcntl(descriptor, F_GETFD) >= 0;
  return open;
}

bool is_device(int descriptor, const char* path) {
  char name[64] = "", link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return readlink(link, name, sizeof name - 1) > 0 && std::strcmp(name, path) == 0;
}

int number_in(const char* file) {
  int number = -1;
  FILE* const stream = std::fopen(file, "r");
  if (stream != nullptr && std::fscanf(stream, "%d", &number) != 1) number = -1;
  if (stream != nullptr) std::fclose(stream);
  return number;
}

void stay(const char* file) {
  fork();
  const int list = open(file, O_WRONLY | O_APPEND | O_CREAT, 0600);
  dprintf(list, "%d\n", getpid());
  sleep(60);
}

}  // namespace

int main(int, char** argv) {
  if (const char* file = std::getenv("WITNESS_PIDS")) stay(file);
  usleep(100'000);
  std::printf(
      "{\"arguments\":\"%s %s %s %s %s\",\"descriptors\":%d,\"nowhere\":%s,\"signals\":%s,\"limits\":%s,"
      "\"own_session\":%s,\"preload\":%s,\"disabled\":%s,\"kept\":%s,\"killed_first\":%s,\"visible\":\"%s\"}\n",
      argv[1], argv[2], argv[3], argv[4], argv[5], open_beside_streams(),
      truth(is_device(0, "/dev/null") && is_device(2, "/dev/null")), truth(signals_are_as_for_a_fresh_program()),
      truth(is_raised(RLIMIT_AS) && is_raised(RLIMIT_DATA)), truth(getsid(0) == getpid()),
      truth(std::getenv("LD_PRELOAD") != nullptr), truth(std::getenv("GPUMEM_DISABLE") != nullptr),
      truth(std::getenv("KEPT") != nullptr), truth(number_in("/proc/self/oom_score_adj") == 1000),
      std::getenv("CUDA_VISIBLE_DEVICES") ? std::getenv("CUDA_VISIBLE_DEVICES") : "");
}
