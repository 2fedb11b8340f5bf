#include "journal/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/old_glibc.hpp"

namespace gpumem {
namespace {

constexpr std::size_t page_size = 4096;
constexpr std::size_t first_piece = 64 * 1024;
constexpr std::size_t largest_piece = 256 * 1024;
constexpr std::size_t most_kept_for_essential = 16 * 1024;
constexpr std::size_t trimming = ~std::size_t{0};  // in used_: no thread can reserve

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

// Growing past RLIMIT_FSIZE would kill the program with SIGXFSZ.
bool within_file_size_limit(std::size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
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

// Address space is the program's: under a limit the journal takes a small part of it.
std::size_t largest_mapping() {
  constexpr std::size_t largest_ever = std::size_t{64} << 30;
  constexpr std::size_t part = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return largest_ever;
  return std::max<std::size_t>(limit.rlim_cur / part, first_piece);
}

// What another attempt may find gone.
bool may_pass(int error) { return error == EMFILE || error == ENFILE || error == EINTR || error == ENOMEM; }

}  // namespace

bool Journal::create(const char* path, std::size_t largest) {
  const std::size_t length = std::strlen(path);
  if (length >= sizeof path_) {
    errno = ENAMETOOLONG;
    return false;
  }
  const File file(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  std::memcpy(path_, path, length + 1);
  struct stat status {};
  largest = std::min(largest, largest_mapping());
  largest_ = largest < page_size ? page_size : largest & ~(page_size - 1);
  const std::size_t first = largest_ < first_piece ? largest_ : first_piece;
  kept_for_essential_ = largest_ / 4 < most_kept_for_essential ? largest_ / 4 : most_kept_for_essential;
  const bool ready =
      status_of_descriptor(file.get(), status) && within_file_size_limit(first) && reserve_blocks(file.get(), 0, first);
  void* pages = MAP_FAILED;
  // Under a limit of address space, a smaller journal is better than none.
  while (ready && pages == MAP_FAILED && largest_ >= first) {
    pages = mmap(nullptr, largest_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (pages == MAP_FAILED) largest_ = (largest_ / 2) & ~(page_size - 1);
  }
  if (pages == MAP_FAILED) {
    const int reason = errno;
    unlink(path);
    errno = reason;
    return false;
  }
  madvise(pages, largest_, MADV_DONTFORK);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  bytes_ = static_cast<char*>(pages);
  reserved_.store(first, std::memory_order_release);
  return true;
}

bool Journal::change_size(std::size_t from, std::size_t to) {
  const File file(open(path_, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!file || !status_of_descriptor(file.get(), status)) return false;
  if (status.st_dev != device_ || status.st_ino != inode_) return false;
  if (to <= from) return ftruncate(file.get(), static_cast<off_t>(to)) == 0;
  if (!reserve_blocks(file.get(), from, to)) return false;
  make_pages(file.get(), bytes_, from, to);
  return true;
}

bool Journal::grow(std::size_t needed) {
  LockGuard guard(growing_);
  const std::size_t have = reserved_.load(std::memory_order_relaxed);
  if (needed <= have) return true;
  if (full_.load(std::memory_order_relaxed)) return false;
  std::size_t size = have + (have < largest_piece ? have : largest_piece);
  if (size < needed) size = needed;
  size = (size + page_size - 1) & ~(page_size - 1);
  if (size > largest_) size = largest_;
  errno = 0;
  if (size < needed || !within_file_size_limit(size) || !change_size(have, size)) {
    full_.store(!may_pass(errno), std::memory_order_release);
    return false;
  }
  reserved_.store(size, std::memory_order_release);
  return true;
}

bool Journal::append(std::string_view line, Importance importance) {
  // What happens without end, such as a call that fails in a loop, must leave room for the process's end.
  const std::size_t left_alone = importance == Importance::ordinary  ? kept_for_essential_
                                 : importance == Importance::notable ? kept_for_essential_ / 2
                                                                     : 0;
  const bool may_wait = importance != Importance::last_words;
  std::size_t begin = used_.load(std::memory_order_acquire);
  for (;;) {
    if (begin == trimming) {
      if (!may_wait) return false;
      SpinLock::rest();
      begin = used_.load(std::memory_order_acquire);
      continue;
    }
    const std::size_t end = begin + line.size();
    const std::size_t wanted = end + left_alone;
    if (wanted > reserved_.load(std::memory_order_acquire)) {
      if (!may_wait || !grow(wanted)) return false;
      begin = used_.load(std::memory_order_acquire);
      continue;
    }
    if (used_.compare_exchange_weak(begin, end, std::memory_order_acq_rel)) {
      // A trim may have come between the look at reserved_ and the exchange, and left used_ as it was.
      if (end > reserved_.load(std::memory_order_acquire) && (!may_wait || !grow(end))) return false;
      break;
    }
  }
  std::memcpy(bytes_ + begin, line.data(), line.size() - 1);
  std::atomic_ref<char>(bytes_[begin + line.size() - 1]).store(line.back(), std::memory_order_release);
  return true;
}

void Journal::remove() { unlink(path_); }

void Journal::trim() {
  LockGuard guard(growing_);
  const std::size_t used = used_.exchange(trimming, std::memory_order_acq_rel);
  // Whoever reserved before the exchange writes below `used`; whoever comes after it must first grow the file again.
  if (change_size(reserved_.load(std::memory_order_relaxed), used)) {
    reserved_.store(used, std::memory_order_release);
    full_.store(false, std::memory_order_release);
  }
  used_.store(used, std::memory_order_release);
}

}  // namespace gpumem
