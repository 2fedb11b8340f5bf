// CPU time and peak memory of naming many addresses of one file, beside llvm-symbolizer where it is installed.
//
// usage: symbols_bench FILE [COUNT]        measures both, each in a process of its own, three times
//        symbols_bench --resolve FILE      names the addresses on standard input, one line for each frame
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "symbols/elf_image.hpp"
#include "symbols/symbolizer.hpp"

namespace {

using namespace gpumem;

// Anywhere inside functions, which is where return addresses are; each once.
void write_addresses(const std::string& file, const std::string& to, std::size_t count) {
  const auto image = ElfImage::open(file);
  if (!image || image->functions().empty()) throw std::runtime_error(file + " has no functions");
  std::mt19937_64 random(1);
  std::ofstream out(to);
  std::unordered_set<std::uint64_t> written;
  for (std::size_t tries = 0; written.size() < count && tries < count * 100; ++tries) {
    const auto& function = image->functions()[random() % image->functions().size()];
    const auto size = std::max<std::uint64_t>(function.high - function.low, 2);
    const std::uint64_t address = function.low + 1 + random() % (size - 1);
    if (written.insert(address).second) out << "0x" << std::hex << address << '\n';
  }
}

int resolve(const std::string& file) {
  Symbolizer symbols;
  const CodeFile code{file, ElfImage::open(file)->build_id()};
  std::vector<std::uint64_t> addresses;
  for (std::string line; std::getline(std::cin, line);) addresses.push_back(std::stoull(line, nullptr, 16) + 1);
  for (const auto address : addresses) {
    const auto& frames = symbols.resolve(code, address);
    if (frames.empty()) std::cout << "??\t??:0\n";
    for (const auto& frame : frames) {
      std::cout << frame.function.value_or("??") << '\t' << frame.file.value_or("??") << ':' << frame.line.value_or(0)
                << '\n';
    }
    std::cout << "\n";
  }
  return 0;
}

struct Cost {
  double seconds = 0;
  double mebibytes = 0;
};

Cost cost_of(const std::vector<std::string>& command, const std::string& input, const std::string& output) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::dup2(::open(input.c_str(), O_RDONLY), 0);
    ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (status != 0) return {};
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024};
}

Cost best_of_three(const std::vector<std::string>& command, const std::string& input, const std::string& output) {
  Cost best;
  for (int round = 0; round < 3; ++round) {
    const Cost cost = cost_of(command, input, output);
    if (round == 0 || cost.seconds < best.seconds) best = cost;
  }
  return best;
}

int measure(const std::string& file, std::size_t count) {
  std::string scratch = "/tmp/symbols-bench-XXXXXX";
  if (!::mkdtemp(scratch.data())) throw std::runtime_error("no scratch folder");
  const std::string input = scratch + "/addresses";
  write_addresses(file, input, count);
  const Cost ours = best_of_three({"/proc/self/exe", "--resolve", file}, input, scratch + "/ours");
  const Cost theirs = best_of_three({"llvm-symbolizer", "--functions", "--demangle", "--inlines", "--obj", file}, input,
                                    scratch + "/theirs");
  std::printf("%zu addresses of %s\n", count, file.c_str());
  std::printf("gpumem           %6.2f s CPU %7.0f MiB\n", ours.seconds, ours.mebibytes);
  if (theirs.seconds == 0) {
    std::printf("llvm-symbolizer  is not there\n");
  } else {
    std::printf("llvm-symbolizer  %6.2f s CPU %7.0f MiB\n", theirs.seconds, theirs.mebibytes);
    std::printf("ratio            %6.2f       %7.2f\n", ours.seconds / theirs.seconds,
                ours.mebibytes / theirs.mebibytes);
  }
  std::printf("answers: %s/ours, %s/theirs\n", scratch.c_str(), scratch.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::string(argv[1]) == "--resolve") return resolve(argv[2]);
    if (argc == 2 || argc == 3) return measure(argv[1], argc == 3 ? std::stoul(argv[2]) : 5000);
  } catch (const std::exception& trouble) {
    std::fprintf(stderr, "symbols_bench: %s\n", trouble.what());
    return 1;
  }
  std::fprintf(stderr, "usage: symbols_bench FILE [COUNT]\n");
  return 2;
}
