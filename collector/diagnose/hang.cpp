#include "diagnose/hang.hpp"

#include <algorithm>
#include <csignal>

#include "analyze/sizes.hpp"
#include "diagnose/beside.hpp"
#include "diagnose/cause.hpp"
#include "diagnose/holders.hpp"
#include "model/proc_stat.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
// A start of CUDA can take seconds where nothing keeps the driver loaded.
constexpr std::uint64_t longest_start_ns = 10'000 * ns_per_ms;

// The call, as the table of causes wants to see one.
FailureGroup as_failure(const EventRecord& begin, const ProcessAnalysis& process) {
  FailureGroup group;
  static_cast<CallRecord&>(group.first) = begin;
  group.probe = newest_probe(process);
  return group;
}

Finding weigh(Causes theme, std::string_view id, const Scene& scene) {
  const auto cause = std::find_if(theme.begin(), theme.end(), [&](const Cause& each) { return each.id == id; });
  return cause->weigh(scene);
}

const std::string& innermost(const EventRecord& begin) { return begin.in.empty() ? begin.api : begin.in; }

bool had_ended(const ProcessRecord& process, const ProcessEnd& end, std::uint64_t wall_ns) {
  return end.ns && process.wall_ns + *end.ns < wall_ns;
}

class Hang {
 public:
  Hang(const EventRecord& begin, const Scene& scene) : begin_(begin), process_(scene.process()), scene_(scene) {}

  Diagnosis judge() {
    if (!is_explained_by_process()) {
      result_.verdict = verdict();
      consider_causes();
    }
    tell_neighbours();
    tell_modes();
    tell_nodes();
    tell_software(scene_, result_);
    if (process_.end.how == Ending::running)
      result_.advice.emplace_back("Run `gpumem probe` while it hangs: it never hangs itself.");
    return std::move(result_);
  }

 private:
  // At least, where nothing says when the process ended.
  std::uint64_t lasted_ns() const {
    const std::uint64_t until = process_.end.now_ns.value_or(process_.end.ns.value_or(process_.last_ns));
    return until > begin_.ns ? until - begin_.ns : 0;
  }
  std::uint64_t began_wall_ns() const { return process_.process.wall_ns + begin_.ns; }

  void tell(Evidence evidence) { result_.evidence.push_back(std::move(evidence)); }
  Evidence from_begin(std::string text) const {
    return {std::move(text), LineOfJournal{schema::line::event, begin_.ns, begin_.tid}, ""};
  }
  Evidence from_journal(std::string text, const Neighbour& other) const {
    return {std::move(text), std::nullopt, other.journal.filename().string()};
  }

  void conclude(const char* id, const char* verdict, std::vector<Evidence> evidence, const char* advice) {
    result_.id = id;
    result_.sureness = Certainty::likely;
    result_.verdict = verdict;
    result_.evidence = std::move(evidence);
    result_.advice.emplace_back(advice);
  }

  bool is_explained_by_process() {
    if (Finding forked = weigh(causes_in_process(), "forked", scene_); forked.weight == Weight::proven) {
      conclude("forked",
               "CUDA does not survive fork: the parent had already started it, and what was locked then stays locked.",
               std::move(forked.evidence),
               "Start workers by spawn or exec, or make the first CUDA call only in the child.");
      return true;
    }
    const int signal = process_.end.signal.value_or(0);
    const bool is_crash =
        signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
    if (is_crash && process_.in_flight.size() == 1) {
      conclude("crashed_inside", "The process crashed while it was inside this call: it did not hang.",
               {from_begin("signal " + std::to_string(signal) + " ended the process, and no other call was under way")},
               "The stack at the crash (coredumpctl gdb) says in whose code.");
      return true;
    }
    const auto now = process_.end.how == Ending::running ? read_proc_stat(process_.process.pid) : std::nullopt;
    if (now && (now->state == 'T' || now->state == 't')) {
      conclude("stopped", "The process is stopped, by a signal or a debugger: nothing of it goes on.",
               {{"its state is " + std::string(1, now->state) + " now", std::nullopt, "/proc/PID/stat"}},
               "Let it go on (kill -CONT PID, or the debugger).");
      return true;
    }
    return false;
  }

  std::string verdict() const {
    if (process_.reached_its_end) return "The process came to its end meanwhile: the call need not have hung.";
    if (lasted_ns() >= longest_start_ns) return "The call waits for something that does not come.";
    if (process_.end.how == Ending::running || process_.end.ns)
      return "The call was not under way for longer than a start of CUDA can take.";
    return "The call was under way when the record ends; for how long is not known.";
  }

  void consider_causes() {
    Finding mps = weigh(causes_in_services(), "mps_unreachable", scene_);
    if (mps.weight != Weight::ruled_out)
      candidate("mps_unreachable", "the MPS daemon or its server does not answer",
                "whether nvidia-cuda-mps-control answers (echo get_server_list), and its control.log",
                std::move(mps.evidence));
    if (auto waiting = others_in_the_same_call(); !waiting.empty())
      candidate("waits_in_turn", "several processes start CUDA at once, and wait for each other or for the same device",
                "whether it returns once the others have ended", std::move(waiting));
    if (process_.in_flight.size() > 1)
      candidate("other_thread", "another thread of the process is inside CUDA, and holds what this call needs",
                "the stacks of all threads (gdb -p PID, thread apply all bt)",
                {from_begin(count_of(process_.in_flight.size(), "thread") + " of it were inside CUDA")});
    candidate("device_refuses", "the device or the kernel driver does not answer",
              "the thread's state (ps -L -o tid,stat,wchan -p PID: D is a wait in the kernel), and the kernel's log",
              weigh(causes_in_health(), "device_refuses", scene_).evidence);
    if (innermost(begin_) != "cuInit")
      candidate("code_compiled", "the driver compiles code for the device, which can take minutes the first time",
                "whether the thread uses the processor (top -H), and whether ~/.nv/ComputeCache grows", {});
  }

  void candidate(const char* id, const char* cause, const char* decided_by, std::vector<Evidence> evidence) {
    result_.candidates.push_back({id, cause, decided_by, std::move(evidence), {}});
  }

  template <class Take>
  void each_other_of_the_machine(Take take) const {
    const ProcessRecord& self = process_.process;
    for (const Neighbour& other : scene_.neighbours().all()) {
      const bool is_self = other.process.pid == self.pid && other.process.start == self.start;
      if (other.process.host == self.host && !is_self) take(other);
    }
  }

  std::vector<Evidence> others_in_the_same_call() const {
    std::vector<Evidence> told;
    std::size_t count = 0;
    constexpr std::size_t most = 4;
    each_other_of_the_machine([&](const Neighbour& other) {
      const bool waits = std::any_of(other.in_flight.begin(), other.in_flight.end(), [&](const EventRecord& theirs) {
        const bool is_after = had_ended(process_.process, process_.end, other.process.wall_ns + theirs.ns);
        return !is_after && !had_ended(other.process, other.end, began_wall_ns()) &&
               innermost(theirs) == innermost(begin_);
      });
      if (waits && ++count <= most)
        told.push_back(from_journal(name_of(other) + " had not returned from " + innermost(begin_) + " either", other));
    });
    if (count > most) told.push_back({"nor had " + count_of(count - most, "more process"), std::nullopt, ""});
    return told;
  }

  static std::string name_of(const Neighbour& other) {
    return "process " + std::to_string(other.process.pid) + " (" + command_words(other.process.argv) + ")";
  }

  // Then it is not the machine that keeps everybody.
  void tell_neighbours() {
    const Neighbour* started = nullptr;
    each_other_of_the_machine([&](const Neighbour& other) {
      const bool is_later = other.context_ns && other.process.wall_ns + *other.context_ns > began_wall_ns();
      const bool is_meanwhile = is_later && other.process.wall_ns + *other.context_ns < began_wall_ns() + lasted_ns();
      if (is_meanwhile) started = &other;
    });
    if (started) tell(from_journal(name_of(*started) + " made a context meanwhile", *started));
  }

  void tell_modes() {
    const auto tell_mode = [&](const DeviceRecord& device, Evidence evidence) {
      if (!device.compute_mode || *device.compute_mode == "default") return false;
      evidence.text = "the compute mode of a device is " + *device.compute_mode + evidence.text;
      tell(std::move(evidence));
      return true;
    };
    for (const auto& [_, device] : process_.devices)
      if (tell_mode(device, {"", LineOfJournal{schema::line::device, device.ns, device.tid}, "compute_mode"})) return;
    bool is_told = false;
    each_other_of_the_machine([&](const Neighbour& other) {
      for (const auto& device : other.devices)
        if (!is_told) is_told = tell_mode(device.identity, from_journal(", as " + name_of(other) + " saw it", other));
    });
  }

  void tell_nodes() {
    if (!scene_.machine()) return;
    for (const auto& node : scene_.machine()->nodes)
      if (node.open && *node.open != "ok")
        tell(scene_.from_probe(node.path + " could not be opened (" + *node.open + ")", "device_nodes.nodes"));
  }

  const EventRecord& begin_;
  const ProcessAnalysis& process_;
  const Scene& scene_;
  Diagnosis result_;
};

}  // namespace

std::optional<ProbeRecord> newest_probe(const ProcessAnalysis& process) {
  std::optional<ProbeRecord> newest;
  for (const auto& group : process.failures)
    if (group.probe && (!newest || group.probe->ns > newest->ns)) newest = group.probe;
  return newest;
}

Diagnosis diagnose_hang(const EventRecord& begin, const ProcessAnalysis& process, const Machine* machine,
                        Neighbourhood& neighbours) {
  const FailureGroup group = as_failure(begin, process);
  const Scene scene(group, process, machine, neighbours);
  return Hang(begin, scene).judge();
}

}  // namespace gpumem
