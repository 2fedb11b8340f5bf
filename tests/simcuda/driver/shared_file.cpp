// SPDX-License-Identifier: Apache-2.0
#include "driver/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace simcuda {
namespace {

// Away from the numbers that programs expect for their own files.
constexpr int lowest_descriptor = 200;

}  // namespace

int moved_away(int descriptor) noexcept {
  if (descriptor < 0) return -1;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest_descriptor);
  if (moved < 0) return descriptor;
  close(descriptor);
  return moved;
}

shared_file::~shared_file() {
  if (is_open()) close(descriptor_);
}

shared_file shared_file::create(const char* name, std::size_t bytes) noexcept {
  // A file past the limit would end the process with SIGXFSZ, which no driver does.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) return {};
  shared_file made(moved_away(memfd_create(name, MFD_CLOEXEC)));
  if (made.is_open() && ftruncate(made.descriptor_, static_cast<off_t>(bytes)) != 0) return {};
  return made;
}

shared_file shared_file::open_of(int process, int descriptor) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
  return shared_file(moved_away(open(path, O_RDWR | O_CLOEXEC)));
}

shared_file shared_file::duplicate(int descriptor) noexcept {
  return shared_file(fcntl(descriptor, F_DUPFD_CLOEXEC, lowest_descriptor));
}

std::size_t shared_file::bytes() const noexcept {
  struct stat about {};
  return fstat(descriptor_, &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
}

bool shared_file::same_as(const shared_file& other) const noexcept {
  struct stat mine {
  }, theirs{};
  return fstat(descriptor_, &mine) == 0 && fstat(other.descriptor_, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
         mine.st_ino == theirs.st_ino;
}

void* shared_file::map(std::size_t bytes, std::size_t offset, void* fixed) const noexcept {
  const int access = fixed ? PROT_NONE : PROT_READ | PROT_WRITE;
  const int kind = MAP_SHARED | MAP_NORESERVE | (fixed ? MAP_FIXED : 0);
  void* memory = mmap(fixed, bytes, access, kind, descriptor_, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace simcuda
