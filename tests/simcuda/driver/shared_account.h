// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace simcuda {

/// A file in which processes keep account of what each of them uses of the same devices.
///
/// A process's share is held by a lock of its open file, so it lives as long as any process has that file open: forked
/// children inherit it, a program that is executed does not, and the kernel ends it whatever ended the process. Devices
/// are numbered as in the script.
class shared_account {
 public:
  static constexpr std::size_t most_devices = 32;

  struct user {
    int pid;
    std::size_t bytes;
  };

  /// For looking; nullptr when the file cannot be opened or made, which a line on stderr has told then.
  static std::unique_ptr<shared_account> open(const std::string& path);
  ~shared_account();
  shared_account(const shared_account&) = delete;
  shared_account& operator=(const shared_account&) = delete;

  /// Takes a share for this process. false: there is no room for another.
  bool join();
  /// What this process uses from now on.
  void publish(std::size_t device, std::size_t bytes, std::size_t contexts) noexcept;

  std::size_t used_by_others(std::size_t device) const;
  bool others_have_context(std::size_t device) const;
  /// Every process with a context, this one too; not one that is dead while its share lives on.
  std::vector<user> users(std::size_t device) const;

 private:
  friend class account_guard;
  struct content;

  shared_account(int descriptor, content* all) : descriptor_(descriptor), all_(all) {}
  bool is_live(std::size_t share) const;

  int descriptor_;
  content* all_;
  std::size_t own_ = static_cast<std::size_t>(-1);
  int guards_ = 0;
};

/// Keeps other processes from changing what they use; nothing when there is no account. The caller's threads take
/// turns by machine::mutex.
class account_guard {
 public:
  explicit account_guard(shared_account* of);
  ~account_guard();
  account_guard(const account_guard&) = delete;
  account_guard& operator=(const account_guard&) = delete;

 private:
  shared_account* of_;
};

}  // namespace simcuda
