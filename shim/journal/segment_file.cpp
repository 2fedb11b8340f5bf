#include "journal/segment_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/old_glibc.hpp"

namespace gpumem {
namespace {

constexpr std::size_t page_size = SegmentFile::page_size;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::size_t soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~std::size_t{0};
  return limit.rlim_cur;
}

// Growing past RLIMIT_FSIZE would kill the program with SIGXFSZ.
bool within_file_size_limit(std::size_t size) {
  if (size <= soft_limit(RLIMIT_FSIZE)) return true;
  errno = EFBIG;
  return false;
}

// Only the new part: where the file system cannot reserve, glibc writes into every block of it.
bool reserve_blocks(int descriptor, std::size_t from, std::size_t to) {
  int error;
  do {
    error = posix_fallocate(descriptor, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (error == EINTR);
  if (error != 0) errno = error;
  return error == 0;
}

// Makes the pages of a reserved part before they are needed: by writing them at once, which costs a third of faulting
// them in one by one (4 KiB on ext4: 1.1 us against 2.2 to 4.3; Linux 6.18, 2026-12). Not doing it is only slower.
void make_pages(int descriptor, char* mapping, std::size_t from, std::size_t to) {
  static constexpr char zeros[page_size] = {};
  iovec pieces[16];
  for (iovec& piece : pieces) piece = {const_cast<char*>(zeros), sizeof zeros};
  for (std::size_t at = from; at + sizeof zeros <= to;) {
    const auto count = static_cast<int>(std::min((to - at) / sizeof zeros, std::size(pieces)));
    const ssize_t written = pwritev(descriptor, pieces, count, static_cast<off_t>(at));
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, from Linux 5.14 on
  madvise(mapping + from, to - from, populate_write);
}

bool write_all(int descriptor, std::size_t at, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Address space is the program's: under a limit a mapping takes a small part of it.
std::size_t largest_mapping(std::size_t least) {
  constexpr std::size_t part = 64;
  return std::max<std::size_t>((soft_limit(RLIMIT_AS) / part) & ~(page_size - 1), least);
}

}  // namespace

bool SegmentFile::map(int descriptor, std::size_t first, std::size_t& capacity) {
  std::size_t size = std::min(capacity, largest_mapping(first));
  void* pages = MAP_FAILED;
  // A smaller journal is better than none.
  for (; pages == MAP_FAILED && size >= first; size = pages == MAP_FAILED ? (size / 2) & ~(page_size - 1) : size) {
    pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (pages == MAP_FAILED && errno != ENOMEM) return false;
  }
  if (pages == MAP_FAILED) return false;
  madvise(pages, size, MADV_DONTFORK);
  bytes_ = static_cast<char*>(pages);
  mapped_ = capacity = size;
  return true;
}

bool SegmentFile::create(const char* path, std::size_t first, std::size_t& capacity, Writing writing) {
  *this = {};
  const File file(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  struct stat status {};
  capacity = std::min(capacity, soft_limit(RLIMIT_FSIZE) & ~(page_size - 1));
  bool ready =
      status_of_descriptor(file.get(), status) && within_file_size_limit(first) && reserve_blocks(file.get(), 0, first);
  if (ready && writing == Writing::mapped && !map(file.get(), first, capacity)) ready = errno != ENOMEM;
  if (!ready) {
    const int reason = errno;
    unlink(path);
    errno = reason;
    return false;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

namespace {

// The file of that path, if it is still the same.
int open_again(const char* path, dev_t device, ino_t inode, struct stat& status) {
  const int descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) errno = ESTALE;
  if (descriptor < 0) return -1;
  if (status_of_descriptor(descriptor, status) && status.st_dev == device && status.st_ino == inode) return descriptor;
  close(descriptor);
  errno = ESTALE;
  return -1;
}

}  // namespace

bool SegmentFile::reserve(const char* path, std::size_t from, std::size_t to) const {
  if (!within_file_size_limit(to)) return false;
  if (!is_mapped()) return true;  // each write looks by itself
  struct stat status {};
  const File file(open_again(path, device_, inode_, status));
  if (!file) return false;
  if (static_cast<std::size_t>(status.st_size) < from) {
    errno = ESTALE;
    return false;
  }
  if (!reserve_blocks(file.get(), from, to)) return false;
  make_pages(file.get(), bytes_, from, to);
  return true;
}

bool SegmentFile::cut(const char* path, std::size_t length) const {
  struct stat status {};
  const File file(open_again(path, device_, inode_, status));
  if (!file) return false;
  if (is_mapped() && static_cast<std::size_t>(status.st_size) < length) {
    errno = ESTALE;
    return false;
  }
  return ftruncate(file.get(), static_cast<off_t>(length)) == 0;
}

bool SegmentFile::write(const char* path, std::size_t at, std::string_view text) const {
  if (is_mapped()) {
    std::memcpy(bytes_ + at, text.data(), text.size() - 1);
    std::atomic_ref<char>(bytes_[at + text.size() - 1]).store(text.back(), std::memory_order_release);
    return true;
  }
  if (!within_file_size_limit(at + text.size())) return false;
  struct stat status {};
  const File file(open_again(path, device_, inode_, status));
  return file && write_all(file.get(), at, text);
}

// A futex of the page: the kernel has to find the page for it, and says so where there is none, in 0.26 us; mincore()
// takes 0.7, a pwrite() 0.5 to 0.8 (Linux 6.18 on a virtual machine where getppid() takes 0.13; 2026-12).
bool SegmentFile::has_page_of(std::size_t byte) const {
  if (!is_mapped()) return true;
  const int before = errno;
  const bool there =
      syscall(SYS_futex, bytes_ + (byte & ~std::size_t{3}), FUTEX_WAKE, 0, nullptr, nullptr, 0) >= 0 || errno != EFAULT;
  errno = before;
  return there;
}

void SegmentFile::unmap() {
  if (is_mapped()) munmap(bytes_, mapped_);
  bytes_ = nullptr;
}

bool cut_closed_file(const char* path, std::size_t length, std::string_view last_line) {
  struct stat status {};
  const File file(open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  return file && status_of_descriptor(file.get(), status) && S_ISREG(status.st_mode) &&
         write_all(file.get(), length, last_line) &&
         ftruncate(file.get(), static_cast<off_t>(length + last_line.size())) == 0;
}

}  // namespace gpumem
