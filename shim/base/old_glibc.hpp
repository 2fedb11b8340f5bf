// Ways round symbols that glibc gave a new version when it moved or changed them: a shim linked on a new system must
// load on an old one. dlvsym and dlerror moved from libdl to libc in 2.34, the stat family became functions in 2.33.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define GPUMEM_FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define GPUMEM_FIRST_GLIBC "GLIBC_2.17"
#endif

// Binds this file's references to the version that every glibc of the architecture has.
#ifdef GPUMEM_FIRST_GLIBC
#define GPUMEM_USE_FIRST_VERSION(function) __asm__(".symver " #function "," #function "@" GPUMEM_FIRST_GLIBC)
#else
#define GPUMEM_USE_FIRST_VERSION(function) static_assert(true)
#endif

namespace gpumem {

inline bool status_of_descriptor(int descriptor, struct stat& status) {
  return syscall(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH) == 0;
}

// Of the link itself, if it is one.
inline bool status_of_path(const char* path, struct stat& status) {
  return syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace gpumem
