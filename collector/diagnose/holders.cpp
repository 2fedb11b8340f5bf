#include "diagnose/holders.hpp"

#include <algorithm>
#include <ctime>
#include <set>

#include "analyze/sizes.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_command = 60;

// What drivers keep for themselves and NVML counts as used: from tens of MiB to about a GiB on the largest cards.
constexpr std::uint64_t kept_by_driver = 1ull << 30;

std::string time_of_day(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  std::tm local{};
  char text[16] = "";
  if (::localtime_r(&seconds, &local)) std::strftime(text, sizeof text, "%H:%M", &local);
  return text;
}

std::string state_text(const std::string& state) {
  if (state == "Z") return "a zombie that nobody has waited for";
  if (state == "D") return "stuck in the kernel";
  if (state == "T" || state == "t") return "stopped";
  return "";
}

void add_detail(std::string& details, const std::string& detail) {
  if (!detail.empty()) details += (details.empty() ? "" : ", ") + detail;
}

std::string who_text(const Scene& scene, const Holder& holder, const OtherProcess* known) {
  std::string details;
  if (holder.is_self) add_detail(details, "this same process");
  if (holder.is_parent) add_detail(details, "the parent of this process");
  if (holder.journal) {
    add_detail(details, command_words(holder.journal->process.argv));
  } else if (known) {
    add_detail(details, known->command.empty() ? known->name.value_or("") : command_words(known->command));
  }
  if (known && !holder.is_self) {
    add_detail(details, state_text(known->state));
    if (known->age_s) add_detail(details, "running for " + age_text(*known->age_s));
    if (!known->reason.empty()) add_detail(details, "not visible from here: " + known->reason);
  }
  constexpr std::uint64_t idle = 60ull * 1'000'000'000;
  if (holder.journal && !holder.is_self) {
    const std::uint64_t last = holder.journal->process.wall_ns + holder.journal->last_ns;
    if (last + idle < scene.wall_ns()) add_detail(details, "no CUDA call since " + time_of_day(last));
  }
  if (scene.machine()->own_pid_namespace)
    add_detail(details, "a number of the host: this process is in a pid namespace of its own");
  const std::string name = "process " + std::to_string(holder.pid);
  return details.empty() ? name : name + " (" + details + ")";
}

const Neighbour* journal_of(const Scene& scene, std::int64_t pid, const OtherProcess* known) {
  if (scene.machine()->own_pid_namespace) return nullptr;
  return scene.neighbours().find(scene.process().process.host, pid, known ? known->start_ticks.value_or(0) : 0,
                                 scene.wall_ns());
}

}  // namespace

std::string age_text(std::uint64_t seconds) {
  if (seconds < 120) return count_of(seconds, "second");
  if (seconds < 2 * 3600) return count_of(seconds / 60, "minute");
  return seconds < 48 * 3600 ? count_of(seconds / 3600, "hour") : count_of(seconds / 86400, "day");
}

std::string command_words(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    // Of the program its name: what tells one from another stands behind it.
    text += text.empty() ? word.substr(word.rfind('/') + 1) : " " + word;
    if (text.size() > most_command) break;
  }
  if (text.size() > most_command) {
    text.resize(most_command);
    text += "…";
  }
  return text.empty() ? text : "`" + text + "`";
}

std::string Holder::text() const { return bytes ? who + " holds " + bytes_text(*bytes) : who + " uses it"; }

std::vector<Holder> holders_of(const Scene& scene, const Gpu& gpu) {
  std::vector<Holder> holders;
  for (const auto& user : gpu.users) {
    // The numbers of another machine, as it were.
    const OtherProcess* known = scene.machine()->own_pid_namespace ? nullptr : scene.machine()->process(user.pid);
    Holder holder;
    holder.pid = user.pid;
    holder.bytes = user.bytes;
    holder.is_graphics_only = user.is_graphics_only;
    const auto& servers = scene.machine()->mps.processes;
    holder.is_mps = std::find(servers.begin(), servers.end(), user.pid) != servers.end();
    holder.is_self = scene.is_self(user.pid);
    holder.is_parent = !scene.machine()->own_pid_namespace && user.pid == scene.process().process.ppid;
    holder.journal = journal_of(scene, user.pid, known);
    holder.who = who_text(scene, holder, known);
    holders.push_back(std::move(holder));
  }
  return holders;
}

std::vector<Evidence> tell_holders(const Scene& scene, const Gpu& gpu, const std::vector<Holder>& holders) {
  constexpr std::size_t most_named = 5;
  std::vector<Evidence> told;
  for (std::size_t i = 0; i < std::min(holders.size(), most_named); ++i)
    told.push_back(scene.from_gpu(holders[i].text(), gpu, "processes"));
  if (holders.size() > most_named) {
    const std::string more = std::to_string(holders.size() - most_named) + " more processes use the device";
    told.push_back(scene.from_gpu(more, gpu, "processes"));
  }
  return told;
}

std::uint64_t unlisted_bytes(const Gpu& gpu) {
  if (!gpu.total || !gpu.free || *gpu.free > *gpu.total) return 0;
  std::uint64_t explained = gpu.reserved.value_or(0) + (gpu.reserved ? 0 : std::min(kept_by_driver, *gpu.total / 16));
  for (const auto& user : gpu.users) {
    if (!user.bytes) return 0;  // somebody is listed, without figures
    explained += *user.bytes;
  }
  const std::uint64_t used = *gpu.total - *gpu.free;
  return used > explained ? used - explained : 0;
}

std::vector<Evidence> blind_spots(const Scene& scene, const Gpu& gpu) {
  std::vector<Evidence> found;
  const Machine& machine = *scene.machine();
  if (machine.own_pid_namespace) {
    found.push_back(scene.from_probe(
        "this process is in a pid namespace of its own (a container): NVML's process numbers are the host's, so they "
        "name nobody here, and processes outside may not be listed at all",
        "system.pid_namespace"));
  }
  if (machine.proc == "missing" || machine.proc == "of another namespace") {
    found.push_back(scene.from_probe("/proc is " + machine.proc + ", so nothing can be read of other processes here",
                                     "system.proc"));
  }
  if (!gpu.users_known) {
    found.push_back(scene.from_probe("NVML did not tell which processes use the device", "nvml.devices"));
  }
  if (machine.unreadable_processes.value_or(0) > 0) {
    found.push_back(scene.from_probe("the open files of " + count_of(*machine.unreadable_processes, "process") +
                                         " of other users could not be looked at",
                                     "system.holders_unreadable"));
  }
  return found;
}

std::vector<Evidence> unlisted_suspects(const Scene& scene, const Gpu& gpu) {
  std::vector<Evidence> found;
  std::set<std::int64_t> listed;
  for (const auto& user : gpu.users) listed.insert(user.pid);
  const std::string uuid = gpu.uuid.value_or("");
  for (const auto& each : scene.neighbours().all()) {
    const bool is_gone = each.end.how == Ending::killed || each.end.how == Ending::vanished;
    const auto held = each.bytes_at(scene.wall_ns(), uuid);
    if (!is_gone || each.lived_at(scene.wall_ns()) || held.value_or(0) == 0) continue;
    std::string children;
    for (const Neighbour* child : scene.neighbours().children_of(each)) {
      if (child->end.how == Ending::running || child->lived_at(scene.wall_ns()))
        children += (children.empty() ? "" : ", ") + std::to_string(child->process.pid);
    }
    for (const auto& holder : scene.machine()->holders) {
      const bool is_own_child = holder.parent == each.process.pid && !listed.contains(holder.pid);
      if (is_own_child) children += (children.empty() ? "" : ", ") + std::to_string(holder.pid);
    }
    if (children.empty()) continue;
    found.push_back({"process " + std::to_string(each.process.pid) + " (" + command_words(each.process.argv) +
                         ") was killed while it held " + bytes_text(*held) + ", and its children " + children +
                         " live on: they have the device open, so its memory is not given back",
                     std::nullopt, each.journal.string()});
  }
  std::size_t shown = 0;
  constexpr std::size_t most_shown = 8;
  for (const auto& holder : scene.machine()->holders) {
    if (listed.contains(holder.pid) || scene.is_self(holder.pid) || shown == most_shown) continue;
    ++shown;
    std::string who = "process " + std::to_string(holder.pid);
    const std::string words = holder.command.empty() ? holder.name.value_or("") : command_words(holder.command);
    std::string details = words;
    add_detail(details, state_text(holder.state));
    if (!details.empty()) who += " (" + details + ")";
    found.push_back(scene.from_probe(who + " has the device's files open and is not listed", "system.holders"));
  }
  return found;
}

}  // namespace gpumem
