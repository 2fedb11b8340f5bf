#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <thread>

namespace gpumem::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int reader = -1;
  int writer = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) throw std::runtime_error("pipe2");
    reader = ends[0];
    writer = ends[1];
  }
  ~Pipe() {
    close(reader);
    close_writer();
  }
  void close_writer() {
    if (writer >= 0) close(writer);
    writer = -1;
  }
};

std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become(const Command& command, const Pipe& out, const Pipe& err) {
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(out.writer, 1);
  dup2(err.writer, 2);
  setpgid(0, 0);
  if (!command.folder.empty() && chdir(command.folder.c_str())) _exit(126);
  std::vector<std::string> arguments = command.argv, variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
  execvpe(arguments[0].c_str(), c_strings(arguments).data(), c_strings(variables).data());
  _exit(127);
}

// Reads both pipes until everybody who could write to them is gone; false when the deadline came first.
bool drain(const Pipe& out, const Pipe& err, Outcome& outcome, Clock::time_point deadline) {
  std::array<pollfd, 2> ends{pollfd{out.reader, POLLIN, 0}, pollfd{err.reader, POLLIN, 0}};
  const std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    poll(ends.data(), ends.size(), static_cast<int>(left));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || !ends[i].revents) continue;
      char buffer[65536];
      const auto got = read(ends[i].fd, buffer, sizeof buffer);
      if (got > 0)
        texts[i]->append(buffer, static_cast<std::size_t>(got));
      else
        ends[i].fd = -1;
    }
  }
  return true;
}

}  // namespace

Outcome run(const Command& command) {
  Pipe out, err;
  Outcome outcome;
  outcome.pid = fork();
  if (outcome.pid < 0) throw std::runtime_error("fork");
  if (outcome.pid == 0) become(command, out, err);
  out.close_writer();
  err.close_writer();

  std::thread companion;
  if (command.meanwhile) companion = std::thread(command.meanwhile, outcome.pid);
  if (!drain(out, err, outcome, Clock::now() + command.limit)) {
    outcome.timed_out = true;
    kill(-outcome.pid, SIGKILL);
  }
  int status = 0;
  waitpid(outcome.pid, &status, 0);
  if (companion.joinable()) companion.join();
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

Environment plain_environment() {
  Environment environment{{"LANG", "C.UTF-8"}};
  for (const char* name : {"PATH", "HOME", "TMPDIR"})
    if (const char* value = getenv(name)) environment[name] = value;
  return environment;
}

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  if (outcome.timed_out) stream << "[ran past its limit]";
  if (outcome.status) stream << "[status " << *outcome.status << "]";
  if (outcome.signal) stream << "[signal " << *outcome.signal << "]";
  return stream << "\nstdout:\n" << outcome.out << "\nstderr:\n" << outcome.err;
}

}  // namespace gpumem::test
