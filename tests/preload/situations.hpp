// What gpumem says of a program that met a situation: scenario in, verdict out.
#pragma once

#include <signal.h>

#include <thread>

#include "stage.hpp"

namespace gpumem::test {

inline Line rule(const std::string& call, int code, int nth = 1) {
  return {{"call", call}, {"code", code}, {"nth", nth}, {"times", 1000}};
}

inline Line failing_start(int code) { return {{"rules", {rule("cuInit", code)}}}; }

inline std::vector<std::string> situation(std::vector<std::string> words) {
  words.insert(words.begin(), program("situation"));
  return words;
}

inline Outcome report_on(const Stage& stage) {
  return stage.gpumem({"failures", "--format", "json", stage.journals()});
}

// What `gpumem failures` says of each process of the stage's journals.
inline Line processes_of(const Outcome& report) {
  INFO(report);
  REQUIRE(report.status == 0);
  return Line::parse(report.out).at("processes");
}
inline Line processes_of(const Stage& stage) { return processes_of(report_on(stage)); }

inline Line process_in(const Line& processes, int pid) {
  for (const auto& process : processes)
    if (process.at("pid") == pid) return process;
  FAIL("no journal of process " << pid);
  return {};
}

inline Line first_failure_in(const Line& process) {
  for (const auto& failure : process.at("failures"))
    if (failure.at("first_of_process") == true) return failure;
  FAIL("no failure of process " << process.at("pid"));
  return {};
}

// Runs the program under the shim and returns the first failure of the process.
inline Line first_failure(const Stage& stage, std::vector<std::string> argv) {
  const auto outcome = stage.run_traced(std::move(argv));
  INFO(outcome);
  CHECK_FALSE(outcome.timed_out);
  return first_failure_in(process_in(processes_of(stage), outcome.pid));
}

// The same of the only process that failed, where it is another one than the program.
inline Line failure_of_child(const Stage& stage, std::vector<std::string> argv) {
  const auto outcome = stage.run_traced(std::move(argv));
  INFO(outcome);
  Lines failed;
  for (const auto& process : processes_of(stage))
    if (!process.at("failures").empty()) failed.push_back(process);
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].at("pid") != outcome.pid);
  return first_failure_in(failed[0]);
}

// Everything that a diagnosis says for its verdict.
inline std::string words_of(const Line& failure) {
  const auto& why = failure.at("diagnosis");
  std::string words = why.at("verdict").get<std::string>() + "\n";
  for (const auto& each : why.at("evidence")) words += each.at("text").get<std::string>() + "\n";
  for (const auto& each : why.at("advice")) words += each.get<std::string>() + "\n";
  return words;
}

inline bool has_cause(const Line& failure, const char* list, const std::string& id) {
  for (const auto& each : failure.at("diagnosis").at(list))
    if (each.at("id") == id) return true;
  return false;
}
inline bool is_candidate(const Line& failure, const std::string& id) { return has_cause(failure, "candidates", id); }
inline bool is_ruled_out(const Line& failure, const std::string& id) { return has_cause(failure, "ruled_out", id); }

inline void check_cause(const Line& failure, const std::string& id, const std::string& certainty,
                        const std::vector<std::string>& facts = {}) {
  const auto& why = failure.at("diagnosis");
  INFO(failure.dump(2));
  CHECK(why.at("id") == id);
  CHECK(why.at("certainty") == certainty);
  CHECK_FALSE(why.at("evidence").empty());
  for (const auto& fact : facts) CHECK_THAT(words_of(failure), ContainsSubstring(fact));
}

// What is known does not decide: no cause is named, and no GPU called full.
inline void check_open(const Line& failure, const std::vector<std::string>& candidates) {
  const auto& why = failure.at("diagnosis");
  INFO(failure.dump(2));
  CHECK(why.at("id").is_null());
  CHECK(why.at("certainty") == "open");
  for (const auto& id : candidates) CHECK(is_candidate(failure, id));
  CHECK(words_of(failure).find("is full") == std::string::npos);
}

// A folder of that name with the simulated driver's file in it, in place of the other one in the loader's path.
inline void move_driver_to(Stage& stage, const std::string& name, const std::string& file = "libcuda.so.1") {
  const auto folder = stage.folder() / name;
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(simulated_folder() / "libcuda.so.1", folder / file);
  if (file != "libcuda.so.1") std::filesystem::create_symlink(file, folder / "libcuda.so.1");
  stage.set("LD_LIBRARY_PATH", folder);
}

// All processes over the same devices.
inline Stage& share(Stage& stage, Line script = Line::object()) {
  script["shared_account"] = stage.folder() / "account";
  return stage.script(script);
}

struct BesideHolder {
  int holder;
  Line failure;
};

enum class Holder { lives, has_only_children };

// The first failure of a program that runs while another one, or the children of that, holds what its words made.
inline BesideHolder first_failure_beside(const Stage& stage, std::vector<std::string> holder_words,
                                         const std::vector<std::string>& argv, Holder kind = Holder::lives,
                                         const std::string& holder_file = program("situation")) {
  const auto held = stage.folder() / "held";
  holder_words.push_back("hold=" + held.string());
  Outcome victim, report;
  const auto run_victim = [&](int pid) {
    for (int waited = 0; waited < 2000 && !std::filesystem::exists(held); ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (kind == Holder::has_only_children) kill(pid, SIGKILL);
    victim = stage.run_traced(argv);
    report = report_on(stage);
    kill(-pid, SIGKILL);
  };
  auto holder_argv = situation(holder_words);
  holder_argv[0] = holder_file;
  const auto holder = stage.run({holder_argv, stage.traced_environment(), {}, std::chrono::seconds(120), run_victim});
  INFO(holder << victim);
  CHECK(std::filesystem::exists(held));
  CHECK(holder.signal == SIGKILL);
  return {holder.pid, first_failure_in(process_in(processes_of(report), victim.pid))};
}

}  // namespace gpumem::test
