// Does what its arguments say, in their order, and says how each call went: situation WORD[=VALUE]…
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "driver_calls.hpp"

namespace {

CUdevice device = 0;
CUcontext context = nullptr;
std::vector<CUdeviceptr> blocks;
char** next_word = nullptr;
CUresult last_code = CUDA_SUCCESS;

void say(const char* call, CUresult code) {
  last_code = code;
  std::printf("%s: %d\n", call, static_cast<int>(code));
  std::fflush(stdout);
}

std::size_t mebibytes(const std::string& value) { return std::stoull(value) << 20; }

// Ordinals are handles, so that one that is none reaches the driver as well.
void choose_device(const std::string& ordinal) { device = std::stoi(ordinal); }

void make_current(const std::string&) { say("cuCtxSetCurrent", CU(cuCtxSetCurrent)(context)); }

void retain(const std::string& value) {
  const CUresult code = CU(cuDevicePrimaryCtxRetain)(&context, device);
  say("cuDevicePrimaryCtxRetain", code);
  if (code == CUDA_SUCCESS) make_current(value);
}

void create(const std::string&) { say("cuCtxCreate", CU(cuCtxCreate_v2)(&context, 0, device)); }

void allocate(const std::string& value) {
  CUdeviceptr block = 0;
  const CUresult code = CU(cuMemAlloc_v2)(&block, mebibytes(value));
  say("cuMemAlloc", code);
  if (code == CUDA_SUCCESS) blocks.push_back(block);
}

void lock_pages(const std::string& value) {
  void* block = nullptr;
  say("cuMemHostAlloc", CU(cuMemHostAlloc)(&block, mebibytes(value), 0));
}

void free_block(CUdeviceptr block) { say("cuMemFree", CU(cuMemFree_v2)(block)); }

void free_last(const std::string&) {
  free_block(blocks.back());
  blocks.pop_back();
}

void free_every_second(const std::string&) {
  for (std::size_t i = 0; i < blocks.size(); i += 2) free_block(blocks[i]);
}

// As destructors of static objects that end the program where they fail.
void free_at_exit(const std::string&) {
  std::atexit([] {
    for (const CUdeviceptr block : blocks) free_block(block);
    if (last_code != CUDA_SUCCESS) std::abort();
  });
}

void load_code(const std::string&) {
  CUmodule module = nullptr;
  say("cuModuleLoadData", CU(cuModuleLoadData)(&module, "code"));
}

void launch(const std::string&) {
  say("cuLaunchKernel", CU(cuLaunchKernel)(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

void set_variable(const std::string& value) {
  const auto equals = value.find('=');
  setenv(value.substr(0, equals).c_str(), value.substr(equals + 1).c_str(), 1);
}

// What follows happens in children, after whose end this process goes on with nothing.
void fork_children(const std::string& count) {
  for (int i = 0; i < std::stoi(count); ++i)
    if (fork() == 0) return;
  while (wait(nullptr) > 0) continue;
  std::exit(0);
}

// Another execution of this program, which does what follows and `last` of all.
pid_t execute_again(const std::string& last = "") {
  std::string name = "situation", end = last;
  std::vector<char*> argv{name.data()};
  for (char** word = next_word; *word; ++word) argv.push_back(*word);
  argv.push_back(end.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0) std::exit(3);
  return child;
}

void spawn(const std::string&) {
  waitpid(execute_again(), nullptr, 0);
  std::exit(0);
}

// One worker after the other, all of which stay, until one has ended.
void spawn_workers(const std::string& folder) {
  std::vector<pid_t> workers;
  for (bool has_ended = false; !has_ended;) {
    const std::string file = folder + "/worker-" + std::to_string(workers.size());
    workers.push_back(execute_again("hold=" + file));
    while (!has_ended && access(file.c_str(), F_OK) != 0) {
      usleep(1000);
      has_ended = waitpid(workers.back(), nullptr, WNOHANG) > 0;
    }
  }
  workers.pop_back();
  for (const pid_t worker : workers) kill(worker, SIGKILL), waitpid(worker, nullptr, 0);
  std::exit(0);
}

void leave_descriptors(const std::string& count) {
  const rlimit few{64, 64};
  closefrom(static_cast<int>(few.rlim_cur));  // inherited ones above the limit would be counted, too
  setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> open_files;
  for (int file = 0; (file = open("/dev/null", O_RDONLY)) >= 0;) open_files.push_back(file);
  for (int i = 0; i < std::stoi(count); ++i) close(open_files.at(i));
}

// Only what was had.
void hold(const std::string& file) {
  if (last_code != CUDA_SUCCESS) return;
  close(open(file.c_str(), O_CREAT | O_WRONLY, 0600));
  for (;;) pause();
}

void on_a_thread(const std::string&);

constexpr struct {
  const char* name;
  void (*run)(const std::string& value);
} words[] = {
    {"start", [](const std::string&) { say("cuInit", CU(cuInit)(0)); }},
    {"device", choose_device},
    {"retain", retain},
    {"create", create},
    {"current", make_current},
    {"alloc", allocate},
    {"pinned", lock_pages},
    {"free", free_last},
    {"free_every_second", free_every_second},
    {"free_at_exit", free_at_exit},
    {"load", load_code},
    {"launch", launch},
    {"set", set_variable},
    {"fork", fork_children},
    {"spawn", spawn},
    {"workers", spawn_workers},
    {"thread", on_a_thread},
    {"descriptors", leave_descriptors},
    {"regardless", [](const std::string&) { last_code = CUDA_SUCCESS; }},
    {"hold", hold},
    {"abort", [](const std::string&) { std::abort(); }},
};

void run_words() {
  while (*next_word) {
    const std::string text = *next_word++;
    const auto equals = text.find('=');
    for (const auto& word : words)
      if (text.substr(0, equals) == word.name) word.run(equals == std::string::npos ? "" : text.substr(equals + 1));
  }
}

void on_a_thread(const std::string&) { std::thread(run_words).join(); }

}  // namespace

int main(int, char** argv) {
  if (!driver) return std::printf("%s\n", dlerror()), 3;
  next_word = argv + 1;
  run_words();
}
