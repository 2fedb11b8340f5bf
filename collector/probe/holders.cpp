#include "probe/holders.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <sstream>

#include "model/proc_stat.hpp"
#include "probe/files.hpp"
#include "probe/process_facts.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using Paths = std::set<std::string>;

constexpr const char* device_files = "/dev/nvidia";
constexpr std::size_t most_holders = 256;
constexpr std::chrono::milliseconds time_for_mappings{400};  // there may be thousands of processes with thousands each

std::optional<std::int64_t> number_of(const std::string& name) {
  std::int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

std::vector<std::int64_t> numbers_in(const fs::path& folder) {
  std::vector<std::int64_t> numbers;
  std::error_code trouble;
  for (fs::directory_iterator entry(folder, trouble), end; !trouble && entry != end; entry.increment(trouble)) {
    if (const auto number = number_of(entry->path().filename().string())) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Whether anything is open at all, in `any`: the open files of a process whose first thread has ended are the others'.
std::error_code find_open(const fs::path& folder, Paths& found, bool& any) {
  std::error_code trouble, ignored;
  for (fs::directory_iterator entry(folder / "fd", trouble), end; !trouble && entry != end; entry.increment(trouble)) {
    any = true;
    auto target = fs::read_symlink(entry->path(), ignored).string();
    if (target.starts_with(device_files)) found.insert(std::move(target));
  }
  return trouble;
}

std::error_code find_open_of_process(const fs::path& folder, Paths& found) {
  bool any = false;
  const auto trouble = find_open(folder, found, any);
  if (any || trouble == std::errc::permission_denied) return trouble;
  for (const auto thread : numbers_in(folder / "task")) find_open(folder / "task" / std::to_string(thread), found, any);
  return {};
}

Paths find_mapped(const fs::path& folder) {
  Paths found;
  std::istringstream lines(read_file(folder / "maps").text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find(device_files);
    if (begin != std::string::npos) found.insert(line.substr(begin));
  }
  return found;
}

class Telling {
 public:
  Telling(Findings& findings, const fs::path& proc) : findings_(findings), proc_(proc) {}

  void add(std::int64_t pid, const Paths& files) {
    if (count_++ >= most_holders) return;
    auto facts = process_facts(pid, proc_);
    facts["files"] = files;
    findings_.add("/holders/-", facts);
  }

  std::size_t left_out() const { return count_ - std::min(count_, most_holders); }

 private:
  Findings& findings_;
  const fs::path& proc_;
  std::size_t count_ = 0;
};

}  // namespace

ProcessScan scan_processes(const fs::path& proc) {
  ProcessScan scan;
  for (const auto pid : numbers_in(proc)) {
    const fs::path folder = proc / std::to_string(pid);
    if (const auto name = read_file(folder / "comm").first_line(); name.is_string()) scan.named[name].push_back(pid);
    Paths files;
    if (find_open_of_process(folder, files) == std::errc::permission_denied) {
      const auto stat = read_proc_stat(pid, proc);
      if (stat && !stat->is_kernel_thread) ++scan.unreadable;
    } else if (files.empty()) {
      scan.others.push_back(pid);
    } else if (const auto stat = read_proc_stat(pid, proc); !stat || stat->parent != ::getppid()) {
      scan.holders.emplace(pid, std::move(files));  // our own other children ask the same driver just now
    }
  }
  return scan;
}

void tell_holders(Findings& findings, const ProcessScan& scan, const fs::path& proc) {
  findings.add("/holders", ordered_json::array());
  findings.add("/holders_unreadable", scan.unreadable);
  Telling telling(findings, proc);
  // Command lines and mappings wait where a process is stuck, so what needs neither has been found before.
  for (const auto& [pid, files] : scan.holders) {
    findings.doing((proc / std::to_string(pid)).string());
    telling.add(pid, files);
  }
  const auto until = Clock::now() + time_for_mappings;
  auto next = scan.others.begin();
  for (; next != scan.others.end() && Clock::now() < until; ++next) {
    const auto folder = proc / std::to_string(*next);
    findings.doing((folder / "maps").string());
    if (const auto files = find_mapped(folder); !files.empty()) telling.add(*next, files);
  }
  findings.add("/holders_left_out", telling.left_out());
  findings.add("/mappings_unread", scan.others.end() - next);
}

}  // namespace gpumem
