// Runs a program to its end and keeps everything it said.
//
// The program gets exactly the environment that it is given, no standard input, and a deadline after which it is
// killed.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpumem::test {

using Environment = std::map<std::string, std::string>;

struct Command {
  std::vector<std::string> argv;
  Environment environment = {};
  std::filesystem::path folder = {};
  std::chrono::seconds limit{60};
  // Called once with the process id, while the program runs.
  std::function<void(int)> meanwhile = {};
};

struct Outcome {
  int pid = 0;
  std::optional<int> status;  // exit status, unless a signal ended it
  std::optional<int> signal;
  bool timed_out = false;
  std::string out;
  std::string err;

  bool operator==(const Outcome& other) const {
    return status == other.status && signal == other.signal && timed_out == other.timed_out && out == other.out &&
           err == other.err;
  }
};

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome);

Outcome run(const Command& command);

// What a shell would have: PATH, HOME, a UTF-8 locale, and nothing that concerns CUDA or this product.
Environment plain_environment();

}  // namespace gpumem::test
