#include "probe/section.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

namespace gpumem {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Whoever reads our output waits for its end: a child that cannot be killed must not hold it open.
void let_go_of_streams() {
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream <= 2; ++stream) {
    if (nowhere < 0 || ::dup2(nowhere, stream) < 0) ::close(stream);
  }
}

[[noreturn]] void run_in_child(const Section& section, int pipe, pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  let_go_of_streams();
  Findings findings(pipe);
  section(findings);
  findings.done();
  ::_exit(0);
}

class Child {
 public:
  explicit Child(const Section& section) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      tell_not_started();
      return;
    }
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) run_in_child(section, ends[1], parent);
    if (pid_ < 0) tell_not_started();
    ::close(ends[1]);
    pipe_ = ends[0];  // at its end at once where no child was started
  }

  bool is_open() const { return pipe_ >= 0; }
  int pipe() const { return pipe_; }

  void read_some() {
    char bytes[16384];
    const ssize_t count = ::read(pipe_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return close_pipe();
    unread_.append(bytes, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      take(unread_.substr(begin, end - begin));
    }
    unread_.erase(0, begin);
  }

  ordered_json finish() {
    const bool in_time = !is_open();
    if (is_open()) close_pipe();
    const auto signal = pid_ > 0 ? end() : std::nullopt;
    if (is_done_) {
      result_.erase("in");
    } else if (pid_ > 0) {
      result_["status"] = in_time ? "died" : "timed out";
      if (in_time) result_["signal"] = signal ? ordered_json(*signal) : ordered_json();
    }
    return result_;
  }

 private:
  void tell_not_started() { result_ = {{"status", "not started"}, {"reason", ::strerrorname_np(errno)}}; }

  void close_pipe() {
    ::close(pipe_);
    pipe_ = -1;
  }

  void take(const std::string& line) {
    if (line.empty()) {
      is_done_ = true;  // not waited for: the end of a process that has a device open may itself take long
      return close_pipe();
    }
    const auto message = ordered_json::parse(line);
    result_[ordered_json::json_pointer(message[0].get<std::string>())] = message[1];
  }

  // The signal that ended it, if that is known: one that the kernel does not let go is left behind.
  std::optional<int> end() {
    ::kill(pid_, SIGKILL);
    constexpr int most_tries = 100;
    for (int i = 0; i < most_tries; ++i) {
      int status = 0;
      const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == pid_ && WIFSIGNALED(status)) return WTERMSIG(status);
      if (ended != 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::nullopt;
  }

  pid_t pid_ = -1;
  int pipe_ = -1;
  bool is_done_ = false;
  std::string unread_;
  ordered_json result_ = {{"status", "ok"}};
};

void listen(std::vector<Child>& children, Clock::time_point until) {
  for (;;) {
    std::vector<pollfd> waited;
    std::vector<Child*> open;
    for (auto& child : children) {
      if (!child.is_open()) continue;
      open.push_back(&child);
      waited.push_back({child.pipe(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (open.empty() || left.count() <= 0) return;
    if (::poll(waited.data(), waited.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (waited[i].revents) open[i]->read_some();
    }
  }
}

}  // namespace

void Findings::add(const std::string& where, const ordered_json& value) {
  send(ordered_json::array({where, value}).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void Findings::done() { send({}); }

void Findings::send(const std::string& line) {
  const std::string bytes = line + '\n';
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::write(pipe_, bytes.data() + sent, bytes.size() - sent);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) ::_exit(1);
  }
}

std::vector<ordered_json> run_sections(const std::vector<Section>& sections, std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  std::vector<Child> children;
  for (const auto& section : sections) children.emplace_back(section);
  listen(children, until);
  std::vector<ordered_json> results;
  for (auto& child : children) results.push_back(child.finish());
  return results;
}

}  // namespace gpumem
