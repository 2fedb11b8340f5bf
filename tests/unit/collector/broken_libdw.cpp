// Preloaded into gpumem: debug information that crashes, or is slow, when it is opened.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

struct Elf;
struct Elf_Scn;
struct Dwarf;

extern "C" Dwarf* dwarf_begin_elf(Elf* elf, int command, Elf_Scn* group) {
  const char* how = std::getenv("BROKEN_LIBDW");
  if (how && std::strcmp(how, "crash") == 0) std::abort();
  if (how && std::strcmp(how, "stay") == 0) ::pause();
  ::usleep(700'000);
  using Function = Dwarf* (*)(Elf*, int, Elf_Scn*);
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "dwarf_begin_elf"))(elf, command, group);
}
