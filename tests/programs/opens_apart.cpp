// Opens a library in a way in which the loader does not ask preloaded ones, and has it use CUDA:
// opens_apart local|deepbind|dlmopen LIBRARY, or opens_apart only FILE, which is opened and left alone
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_apart = std::strcmp(argv[1], "dlmopen") == 0;
  const int how = RTLD_NOW | RTLD_LOCAL | (std::strcmp(argv[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0);
  void* const library = is_apart ? dlmopen(LM_ID_NEWLM, argv[2], how) : dlopen(argv[2], how);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 2;
  if (std::strcmp(argv[1], "only") != 0) reinterpret_cast<void (*)()>(dlsym(library, "run_session"))();
  std::fflush(stdout);
  // A child that ends by exit() says nothing of its own.
  if (const pid_t child = fork(); child == 0) std::exit(0);
  wait(nullptr);
}
