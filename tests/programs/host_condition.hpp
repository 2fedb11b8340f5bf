// What a program asks about itself, and should find unchanged after a call.
#pragma once

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

inline std::string links_in(const char* folder) {
  std::set<std::string> links;
  DIR* const listing = opendir(folder);
  while (listing != nullptr) {
    const dirent* const entry = readdir(listing);
    if (entry == nullptr) break;
    char target[256] = "";
    if (readlinkat(dirfd(listing), entry->d_name, target, sizeof target - 1) > 0)
      links.insert(std::string(entry->d_name) + " " + target);
  }
  if (listing != nullptr) closedir(listing);
  std::string text;
  for (const auto& link : links) text += link + "\n";
  return text;
}

inline std::string condition() {
  std::string text = links_in("/proc/self/fd");
  if (FILE* const score = std::fopen("/proc/self/oom_score_adj", "r")) {
    char value[16];
    if (std::fgets(value, sizeof value, score) != nullptr) text += value;
    std::fclose(score);
  }
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  for (int signal = 1; signal < SIGRTMAX; ++signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    text += std::to_string(sigismember(&mask, signal)) + (action.sa_handler == SIG_DFL ? "d" : "") +
            (action.sa_handler == SIG_IGN ? "i" : "") + std::to_string(action.sa_flags) + " ";
  }
  itimerval timer{};
  getitimer(ITIMER_VIRTUAL, &timer);
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CORE}) {
    rlimit limit{};
    getrlimit(resource, &limit);
    text += std::to_string(limit.rlim_cur) + " ";
  }
  int subreaper = 0, death_signal = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  prctl(PR_GET_PDEATHSIG, &death_signal);
  return text + (timer.it_value.tv_sec > 500 ? " timer " : " no timer ") + std::to_string(subreaper) +
         std::to_string(death_signal) + std::to_string(getpgid(0)) + std::to_string(getsid(0)) +
         std::to_string(sched_getscheduler(0));
}

inline rlim_t mapped_bytes() {
  long pages = 0;
  FILE* const sizes = std::fopen("/proc/self/statm", "r");
  if (sizes != nullptr && std::fscanf(sizes, "%ld", &pages) != 1) pages = 0;
  if (sizes != nullptr) std::fclose(sizes);
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(getpagesize());
}

inline void on(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}
