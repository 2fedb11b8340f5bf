// What a stack costs: stack_cost [--json]
//
// Each way of capturing it in short bursts, in turn, so that all see the same machine; thread CPU time, medians. The
// ratios to a bare _Unwind_Backtrace say something on any machine, the nanoseconds only on this one.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "stack_paths_library.hpp"

using namespace gpumem;
using namespace gpumem::test;

namespace {

constexpr int rounds = 41, captures_of_burst = 300;

double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

unsigned bare_unwind() {
  void* frames[max_frames];
  struct Walk {
    void** frames;
    unsigned count;
  } walk{frames, 0};
  libgcc_backtrace()(
      [](_Unwind_Context* context, void* data) {
        auto& into = *static_cast<Walk*>(data);
        into.frames[into.count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));
        return into.count == max_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &walk);
  return walk.count;
}

unsigned capture(bool by_rules, bool by_memo) {
  StackCapture captured;
  capture_stack({.by_rules = by_rules, .by_memo = by_memo}, captured);
  return captured.depth;
}

struct Way {
  const char* name;
  unsigned (*capture)();
};
constexpr Way ways[] = {{"unwind", bare_unwind},
                        {"memo", [] { return capture(true, true); }},
                        {"rules", [] { return capture(true, false); }},
                        {"boost", [] { return capture(false, false); }}};
constexpr std::size_t way_count = sizeof ways / sizeof *ways;

struct Burst {
  const Way* way;
  unsigned frames;
  double ns;
};

void measure(void* data) {
  auto& burst = *static_cast<Burst*>(data);
  burst.frames = burst.way->capture();
  const double begin = thread_ns();
  for (int i = 0; i < captures_of_burst; ++i) burst.way->capture();
  burst.ns = (thread_ns() - begin) / captures_of_burst;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  Arena::set_budget(64 << 20);
  prepare_unwinder();
  const PathLibrary a(0), b(1), c(2);
  const auto functions = functions_of({&a, &b, &c});
  std::string separator;
  std::printf(json ? "[" : "depth  way     frames       ns   / unwind\n");
  for (const unsigned depth : {10u, 30u, 60u}) {
    std::vector<unsigned> turns(depth);
    for (unsigned at = 0; at < depth; ++at) turns[at] = at * 7919;
    std::vector<double> ns[way_count];
    unsigned frames[way_count];
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t way = 0; way < way_count; ++way) {
        Burst burst{&ways[way], 0, 0};
        StackPath path{turns.data(), functions.data(), static_cast<unsigned>(functions.size()), measure, &burst};
        functions[0](path, depth - 1);
        ns[way].push_back(burst.ns);
        frames[way] = burst.frames;
      }
    }
    const double unwind = median(ns[0]);
    for (std::size_t way = 0; way < way_count; ++way) {
      const double cost = median(ns[way]);
      std::printf(json ? "%s{\"depth\": %u, \"way\": \"%s\", \"frames\": %u, \"ns\": %.1f, \"ratio\": %.4f}"
                       : "%s%5u  %-6s %7u %8.1f %10.4f\n",
                  separator.c_str(), depth, ways[way].name, frames[way], cost, cost / unwind);
      if (json) separator = ",\n ";
    }
  }
  if (json) std::printf("]\n");
}
