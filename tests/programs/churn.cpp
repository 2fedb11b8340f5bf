// Allocates blocks of ever other sizes and frees them in another order: churn ROUNDS KEPT [PAUSE_US [THREADS [FILE]]]
//
// Each thread keeps KEPT blocks and replaces one of them in each round. At the end stdout says how many bytes are left,
// and FILE which blocks, "ADDRESS BYTES" a line, and of a single thread "peak" and the highest sum of bytes that there
// was.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "driver_session.hpp"

namespace {

using Blocks = std::vector<std::pair<CUdeviceptr, std::size_t>>;

struct Work {
  long rounds = 1000;
  std::size_t kept = 10;
  unsigned pause_us = 0;
};

Blocks churn(const DriverApi& api, CUcontext context, const Work& work, unsigned seed, std::size_t& peak) {
  if (api.cuCtxSetCurrent(context)) return {};
  std::mt19937 random(seed);
  Blocks blocks;
  std::size_t live = 0;
  for (long round = 0; round < work.rounds; ++round) {
    if (work.pause_us != 0) usleep(work.pause_us);
    const std::size_t bytes = 1000 + random() % 100'000;
    CUdeviceptr block = 0;
    if (api.cuMemAlloc(&block, bytes)) std::exit(3);
    peak = std::max(peak, live += bytes);
    if (blocks.size() < work.kept) {
      blocks.emplace_back(block, bytes);
      continue;
    }
    auto& replaced = blocks[random() % work.kept];
    if (api.cuMemFree(replaced.first)) std::exit(4);
    live -= replaced.second;
    replaced = {block, bytes};
  }
  return blocks;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
  const Work work{number(1, 1000), static_cast<std::size_t>(number(2, 10)), static_cast<unsigned>(number(3, 0))};
  const DriverApi api = driver_by_dlsym();
  const CUcontext context = start(api);
  std::mutex telling;
  std::ofstream list(argc > 5 ? argv[5] : "/dev/null");
  std::size_t sum = 0;
  std::vector<std::thread> threads;
  const long count = number(4, 1);
  for (long i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      std::size_t peak = 0;
      const Blocks left = churn(api, context, work, static_cast<unsigned>(i), peak);
      const std::lock_guard guard(telling);
      for (const auto& [address, bytes] : left) {
        list << "0x" << std::hex << address << std::dec << ' ' << bytes << '\n';
        sum += bytes;
      }
      if (count == 1) list << "peak " << peak << '\n';
    });
  for (auto& thread : threads) thread.join();
  std::printf("%zu bytes are left\n", sum);
}
