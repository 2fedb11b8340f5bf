// SPDX-License-Identifier: Apache-2.0
#include "driver/shared_account.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "driver/shared_file.h"

namespace simcuda {
namespace {

constexpr std::size_t most_shares = 512;
constexpr off_t guard_byte = 0;

off_t byte_of(std::size_t share) { return static_cast<off_t>(share) + 1; }

/// Two kinds of lock, each for what it is good at. A share's belongs to the open file, which children inherit. The
/// guard's belongs to the process: a child that was forked meanwhile must not keep it.
bool lock(int descriptor, int command, short type, off_t byte) {
  struct flock wanted {};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = byte;
  wanted.l_len = 1;
  while (fcntl(descriptor, command, &wanted) != 0) {
    if (errno != EINTR) return false;
  }
  return command != F_OFD_GETLK || wanted.l_type == F_UNLCK;
}

/// When it started, in the kernel's ticks since boot; 0 when there is no such process any more.
std::uint64_t start_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, skipped;
  fields >> state;
  if (state == "Z" || state == "X") return 0;
  constexpr int fields_between_state_and_start = 18;
  for (int i = 0; i < fields_between_state_and_start; ++i) fields >> skipped;
  std::uint64_t start = 0;
  fields >> start;
  return start;
}

}  // namespace

/// All zero is an account that nobody has used yet.
struct shared_account::content {
  struct share {
    std::atomic<int> pid;
    std::atomic<std::uint64_t> start;
    std::array<std::atomic<std::size_t>, most_devices> bytes, contexts;
  };
  std::array<share, most_shares> shares;
};

std::unique_ptr<shared_account> shared_account::open(const std::string& path) {
  shared_file file(moved_away(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
  const bool made = file.is_open() && ftruncate(file.descriptor(), sizeof(content)) == 0;
  void* memory = made ? file.map(sizeof(content), 0) : nullptr;
  if (!memory) {
    std::fprintf(stderr, "simcuda: %s: %s\n", path.c_str(), std::strerror(errno));
    return nullptr;
  }
  return std::unique_ptr<shared_account>(new shared_account(file.release(), static_cast<content*>(memory)));
}

shared_account::~shared_account() {
  munmap(all_, sizeof(content));
  close(descriptor_);
}

bool shared_account::join() {
  const account_guard guard(this);
  for (std::size_t index = 0; index < most_shares; ++index) {
    if (is_live(index)) continue;
    auto& share = all_->shares[index];
    // Emptied before it is held: what a dead process left there must not count again.
    for (auto& bytes : share.bytes) bytes = 0;
    for (auto& contexts : share.contexts) contexts = 0;
    share.pid = getpid();
    share.start = start_of(getpid());
    own_ = index;
    return lock(descriptor_, F_OFD_SETLK, F_WRLCK, byte_of(index));
  }
  return false;
}

void shared_account::publish(std::size_t device, std::size_t bytes, std::size_t contexts) noexcept {
  all_->shares[own_].bytes[device] = bytes;
  all_->shares[own_].contexts[device] = contexts;
}

bool shared_account::is_live(std::size_t share) const {
  return share == own_ || !lock(descriptor_, F_OFD_GETLK, F_WRLCK, byte_of(share));
}

std::size_t shared_account::used_by_others(std::size_t device) const {
  std::size_t sum = 0;
  for (std::size_t index = 0; index < most_shares; ++index) {
    const std::size_t bytes = all_->shares[index].bytes[device];
    if (bytes && index != own_ && is_live(index)) sum += bytes;
  }
  return sum;
}

bool shared_account::others_have_context(std::size_t device) const {
  for (std::size_t index = 0; index < most_shares; ++index) {
    if (index != own_ && all_->shares[index].contexts[device] && is_live(index)) return true;
  }
  return false;
}

std::vector<shared_account::user> shared_account::users(std::size_t device) const {
  std::vector<user> found;
  for (std::size_t index = 0; index < most_shares; ++index) {
    const auto& share = all_->shares[index];
    if (!share.contexts[device] || !is_live(index) || start_of(share.pid) != share.start) continue;
    found.push_back({share.pid, share.bytes[device]});
  }
  return found;
}

account_guard::account_guard(shared_account* of) : of_(of) {
  if (of_ && of_->guards_++ == 0) lock(of_->descriptor_, F_SETLKW, F_WRLCK, guard_byte);
}

account_guard::~account_guard() {
  if (of_ && --of_->guards_ == 0) lock(of_->descriptor_, F_SETLK, F_UNLCK, guard_byte);
}

}  // namespace simcuda
