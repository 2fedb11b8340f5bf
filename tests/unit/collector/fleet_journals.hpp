// Journals of processes of one job, made up line by line, and what is found in their folder.
#pragma once

#include <deque>

#include "analyze/fleet.hpp"
#include "report_texts.hpp"

namespace gpumem::fleet {

inline constexpr int mib = 1 << 20;
inline constexpr std::uint64_t epoch = 1'796'000'000'000'000'000;

inline std::string process_of(int pid, std::uint64_t wall, const std::string& env = "",
                              const std::string& host = "node1", const std::string& more = R"(,"ppid":1)") {
  return R"({"t":"process","ns":0,"tid":1,"schema":1,"wall_ns":)" + std::to_string(epoch + wall) + R"(,"pid":)" +
         std::to_string(pid) + R"(,"host":")" + host + R"(","start":5,"n":0,"argv":["train"],"env":{)" + env + "}" +
         more + "}\n";
}
inline std::string rank(int number, const std::string& more = "") {
  return R"("RANK":")" + std::to_string(number) + '"' + more;
}

inline std::string device(int ordinal, const std::string& uuid) {
  return R"({"t":"device","ns":1,"tid":1,"d":)" + std::to_string(ordinal) + R"(,"uuid":")" + uuid +
         R"(","pci":"0000:01:00.0","name":"X"})" + "\n";
}
inline std::string context(int ns, int ordinal) {
  return event_line(R"("op":"context","api":"cuCtxCreate_v2","s":0,"ns":)" + std::to_string(ns) + R"(,"d":)" +
                    std::to_string(ordinal) + R"(,"c":)" + std::to_string(ordinal + 1));
}
inline std::string alloc_at(int ns, int block, int bytes, int ordinal = 0, int stack = 1) {
  const std::string number = std::to_string(block);
  return event_line(R"("op":"alloc","api":"cudaMalloc","k":"device","c":1,"ns":)" + std::to_string(ns) + R"(,"i":)" +
                    number + R"(,"p":"0x)" + std::to_string(1000 + block) + R"(","n":)" + std::to_string(bytes) +
                    R"(,"d":)" + std::to_string(ordinal) + R"(,"s":)" + std::to_string(stack));
}
inline std::string free_at(int ns, int block) {
  return event_line(R"("op":"free","api":"cudaFree","k":"device","s":1,"ns":)" + std::to_string(ns) + R"(,"i":)" +
                    std::to_string(block));
}
inline std::string end_at(int ns) {
  return R"({"t":"end","ns":)" + std::to_string(ns) + R"(,"tid":1,"events":1,"failures":0,)" + nothing_lost + "}\n";
}

// A folder of journals, and what is found in it.
class Job {
 public:
  void add(int pid, const std::string& text, int segment = 0, const std::string& host = "node1") {
    folder.write(stem(pid, host) + "." + std::to_string(segment) + ".jsonl", text);
  }
  void end(int pid, std::uint64_t wall, const std::string& how) {
    folder.write(stem(pid, "node1") + ".status.json", R"({"schema":1,"pid":)" + std::to_string(pid) +
                                                          R"(,"command":["a"],"started_ns":1,"ended_ns":)" +
                                                          std::to_string(epoch + wall) + "," + how + "}");
  }
  const std::vector<Fleet>& fleets() {
    std::vector<FleetSource> sources;
    for (const auto& files : find_journals(folder.path()))
      sources.push_back({&processes_.emplace_back(analyze(files, Strictness::strict)), files});
    return fleets_ = find_fleets(sources);
  }
  const Fleet& fleet() {
    fleets();
    REQUIRE(fleets_.size() == 1);
    return fleets_.front();
  }

  const ScratchFolder folder;

 private:
  static std::string stem(int pid, const std::string& host) {
    return "gpumem-" + host + "-" + std::to_string(pid) + "-5-0";
  }
  std::deque<ProcessAnalysis> processes_;
  std::vector<Fleet> fleets_;
};

}  // namespace gpumem::fleet
