// Starts CUDA, which is told to fail, in a situation of its own, and says all that it could notice of a helper beside
// it: failing_host SITUATION
//
// Long because it is a list: a function for each situation, and a table of their names at the end.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "host_condition.hpp"

namespace {

using Start = int (*)(unsigned);
Start start_cuda = nullptr;
volatile sig_atomic_t children_ended = 0, interrupts = 0;
sigjmp_buf before_interrupt;

void count_child(int) { children_ended = children_ended + 1; }
void count_interrupt(int) { interrupts = interrupts + 1; }
void jump_back(int) { siglongjmp(before_interrupt, 1); }

void interrupt_after(int milliseconds) {
  const itimerval timer{{0, 0}, {0, milliseconds * 1000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void say_children() {
  const pid_t any = waitpid(-1, nullptr, WNOHANG);
  const pid_t of_any_kind = waitpid(-1, nullptr, WNOHANG | __WALL);
  std::printf("children: %d %d, ended: %d\n", static_cast<int>(any), static_cast<int>(of_any_kind),
              static_cast<int>(children_ended));
}

void say_start() {
  errno = ETXTBSY;
  const int code = start_cuda(0);
  std::printf("cuInit: %d, errno %d\n", code, errno);
}

// What belongs to a helper and was orphaned would come to this process, where it is one that orphans come to.
void observe() {
  on(SIGCHLD, count_child);
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  if (chdir("/") != 0) std::printf("no root folder\n");
  const itimerval long_time{{0, 0}, {1000, 0}};
  setitimer(ITIMER_VIRTUAL, &long_time, nullptr);
  const std::string before = condition();
  say_start();
  say_children();
  std::printf("the same: %s\n", condition() == before ? "yes" : "no");
  usleep(300'000);
  say_children();
}

void ignoring_children(void (*handler)(int), int flags) {
  on(SIGCHLD, handler, flags);
  say_start();
  say_children();
}

void beside_a_waiting_thread() {
  const pid_t child = fork();
  if (child == 0) {
    usleep(400'000);
    _exit(7);
  }
  std::thread waiting([child] {
    int status = 0;
    const pid_t ended = wait(&status);
    std::printf("wait: %s, status %d\n", ended == child ? "the child" : "another", WEXITSTATUS(status));
  });
  say_start();
  waiting.join();
  say_children();
}

void without_descriptors() {
  say_start();
  const rlimit few{64, 64};
  setrlimit(RLIMIT_NOFILE, &few);
  while (dup(0) >= 0) {
  }
  say_start();
}

void with_closed_streams() {
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD, 100);
  for (int stream = 0; stream <= 2; ++stream) close(stream);
  const int code = start_cuda(0);
  dprintf(kept, "cuInit: %d\n", code);
}

void without_processes() {
  prctl(PR_SET_DUMPABLE, 1);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_NPROC, &none);
  say_start();
  if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) std::printf("still root\n");
  say_start();
}

void with_address_space(bool for_good) {
  say_start();
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = mapped_bytes() + (for_good ? 256u << 10 : 16u << 20);
  if (for_good) limit.rlim_max = limit.rlim_cur;
  setrlimit(RLIMIT_AS, &limit);
  say_start();
}

void in_an_empty_root() {
  say_start();
  std::printf("chroot: %d\n", chroot(getenv("EMPTY_ROOT")));
  say_start();
}

void with_children_in_another_namespace() {
  if (unshare(CLONE_NEWPID) != 0) return void(std::printf("unshare: %s\n", std::strerror(errno)));
  say_start();
  const pid_t child = fork();
  if (child == 0) _exit(getpid() == 1 ? 1 : 2);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("fork: %s, first of its namespace: %s\n", child > 0 ? "works" : std::strerror(errno),
              WEXITSTATUS(status) == 1 ? "yes" : "no");
}

void with_close_range(int answer) {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(answer)),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) std::printf("no filter\n");
  for (int i = 0; i < 3000; ++i) fcntl(0, F_DUPFD, 0);
  on(SIGPIPE, SIG_IGN);
  say_start();
}

int open_beside_streams() {
  int open = 0;
  for (int descriptor = 3; descriptor < 1024; ++descriptor) open += fcntl(descriptor, F_GETFD) >= 0;
  return open;
}

void fork_close_and_open() {
  usleep(500'000);
  const pid_t child = fork();
  if (child == 0) _exit(open_beside_streams());
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("inherited: %d\n", WEXITSTATUS(status));
  for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
  int pipes[8][2];
  for (auto& ends : pipes)
    if (pipe(ends) != 0 || write(ends[1], "1", 1) != 1) std::printf("no pipe\n");
  usleep(1'500'000);
  for (const auto& ends : pipes) {
    char both[2];
    const bool whole = write(ends[1], "2", 1) == 1 && read(ends[0], both, 2) == 2 && both[0] == '1' && both[1] == '2';
    std::printf("pipe: %s\n", whole ? "whole" : std::strerror(errno));
  }
}

void beside_a_closing_thread() {
  std::thread other(fork_close_and_open);
  const int code = start_cuda(0);
  other.join();
  std::printf("cuInit: %d\n", code);
}

// The child is back in the call, like its parent.
void with_a_forking_handler() {
  static pid_t child = -1;
  on(SIGALRM, [](int) { child = fork(); });
  interrupt_after(300);
  timespec began{}, ended{};
  clock_gettime(CLOCK_MONOTONIC, &began);
  start_cuda(0);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  while (child < 0) pause();
  if (child == 0) _exit(ended.tv_sec - began.tv_sec > 5 ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d\n", status);
}

void interrupted() {
  on(SIGALRM, count_interrupt);
  interrupt_after(50);
  const bool traced = getenv("LD_PRELOAD") != nullptr;
  say_start();
  std::printf("in time: %s\n", !traced || interrupts == 1 ? "yes" : "no");
}

void left_by_a_jump() {
  on(SIGALRM, jump_back);
  if (sigsetjmp(before_interrupt, 1) == 0) {
    interrupt_after(50);
    start_cuda(0);
    pause();
  }
  say_start();
}

void in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([] { start_cuda(0); });
  for (auto& thread : threads) thread.join();
}

void in_a_forked_child() {
  say_start();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    say_start();
    say_children();
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void in_a_big_process() {
  constexpr std::size_t size = 2ull << 30;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  say_start();
  munmap(memory, size);
}

// Long enough for several probes.
void many_times() {
  for (int i = 0; i < 400; ++i) {
    start_cuda(0);
    usleep(10'000);
  }
}

const struct {
  const char* name;
  void (*run)();
} situations[] = {
    {"observed", observe},
    {"subreaper", [] { prctl(PR_SET_CHILD_SUBREAPER, 1), observe(); }},
    {"ignoring", [] { ignoring_children(SIG_IGN, 0); }},
    {"no_zombies", [] { ignoring_children(count_child, SA_NOCLDWAIT); }},
    {"waiting", beside_a_waiting_thread},
    {"no_descriptors", without_descriptors},
    {"closed_streams", with_closed_streams},
    {"no_processes", without_processes},
    {"some_memory", [] { with_address_space(false); }},
    {"no_memory", [] { with_address_space(true); }},
    {"empty_root", in_an_empty_root},
    {"other_namespace", with_children_in_another_namespace},
    {"no_close_range", [] { with_close_range(ENOSYS); }},
    {"useless_close_range", [] { with_close_range(0); }},
    {"closing", beside_a_closing_thread},
    {"forking_handler", with_a_forking_handler},
    {"interrupted", interrupted},
    {"jump", left_by_a_jump},
    {"threads", in_threads},
    {"forked", in_a_forked_child},
    {"big", in_a_big_process},
    {"many", many_times},
    {"at_exit", [] { std::atexit([] { start_cuda(0); }), say_start(); }},
};

}  // namespace

int main(int argc, char** argv) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr || argc != 2) return std::printf("no driver, or no situation\n"), 2;
  start_cuda = reinterpret_cast<Start>(dlsym(driver, "cuInit"));
  for (const auto& situation : situations) {
    if (std::strcmp(situation.name, argv[1]) != 0) continue;
    situation.run();
    return 0;
  }
  return 2;
}
