#include "base/loader_list.hpp"

#include <atomic>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/readable.hpp"
#include "base/spin_lock.hpp"

namespace gpumem {
namespace {

bool describe(const link_map& entry, bool is_executable, dl_phdr_info& info) {
  info.dlpi_addr = entry.l_addr;
  info.dlpi_name = entry.l_name;
  if (is_executable) {
    info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    info.dlpi_phnum = static_cast<ElfW(Half)>(getauxval(AT_PHNUM));
    return info.dlpi_phdr != nullptr;
  }
  if (!is_readable(entry.l_addr)) return false;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(entry.l_addr);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(entry.l_addr + header->e_phoff);
  info.dlpi_phnum = header->e_phnum;
  return true;
}

bool is_single_threaded() {
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return false;
  char entries[256];
  const long size = syscall(SYS_getdents64, tasks, entries, sizeof entries);
  close(tasks);
  // ".", ".." and one thread.
  long count = 0;
  for (long at = 0; at < size; ++count) at += reinterpret_cast<const dirent64*>(entries + at)->d_reclen;
  return count == 3;
}

int walk_link_maps(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) {
  unsigned long long length = 0;
  for (const link_map* entry = _r_debug.r_map; entry != nullptr; entry = entry->l_next) ++length;
  for (const link_map* entry = _r_debug.r_map; entry != nullptr; entry = entry->l_next) {
    dl_phdr_info info{};
    info.dlpi_adds = length;
    if (!describe(*entry, entry == _r_debug.r_map, info)) continue;
    if (const int result = visit(&info, sizeof info, data)) return result;
  }
  return 0;
}

// link.h has had r_debug_extended since glibc 2.35 only.
const r_debug* next_namespace(const r_debug& space) {
  struct Extended {
    r_debug base;
    const r_debug* next;
  };
  constexpr int first_extended_version = 2;
  const r_debug* extended = &space;
  asm("" : "+r"(extended));  // the compiler knows _r_debug only by its old size
  return space.r_version >= first_extended_version ? reinterpret_cast<const Extended*>(extended)->next : nullptr;
}

const char* path_in(const r_debug& space, const char* file) {
  for (const link_map* entry = space.r_map; entry != nullptr; entry = entry->l_next) {
    const char* slash = std::strrchr(entry->l_name, '/');
    if (std::strncmp(slash != nullptr ? slash + 1 : entry->l_name, file, std::strlen(file)) == 0) return entry->l_name;
  }
  return nullptr;
}

constinit std::atomic<unsigned> walks{0};
constinit std::atomic<bool> fork_waits{false};
constinit std::atomic<bool> forks_watched{false};
constinit std::atomic<bool> is_forked{false};

void before_fork() {
  fork_waits.store(true);
  // Bounded: better a small risk in the child than a parent that waits for ever.
  for (int tries = 0; walks.load() != 0 && tries < 2000; ++tries) SpinLock::rest();
}
void after_fork_in_parent() { fork_waits.store(false); }
void after_fork_in_child() {
  is_forked.store(true);
  walks.store(0);
  fork_waits.store(false);
}

}  // namespace

int walk_loader_list(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) {
  if (!forks_watched.exchange(true)) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static constinit thread_local unsigned depth = 0;
  if (depth++ == 0) {
    walks.fetch_add(1);
    while (fork_waits.load()) {
      walks.fetch_sub(1);
      SpinLock::rest();
      walks.fetch_add(1);
    }
  }
  const bool lock_may_be_stuck = is_forked.load(std::memory_order_relaxed) && is_single_threaded();
  const int result = lock_may_be_stuck ? walk_link_maps(visit, data) : dl_iterate_phdr(visit, data);
  if (--depth == 0) walks.fetch_sub(1);
  return result;
}

const char* path_in_other_namespace(const char* file) {
  struct Search {
    const char* file;
    const char* found;
  } search{file, nullptr};
  // The lists of all namespaces are under one lock, so being visited once is enough.
  walk_loader_list(
      [](dl_phdr_info*, std::size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        for (const r_debug* space = next_namespace(_r_debug); space != nullptr && s->found == nullptr;
             space = next_namespace(*space))
          s->found = path_in(*space, s->file);
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace gpumem
