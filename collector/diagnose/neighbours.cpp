#include "diagnose/neighbours.hpp"

#include <algorithm>
#include <map>

#include "analyze/calls_in_flight.hpp"
#include "analyze/live_table.hpp"
#include "model/error.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"
#include "model/status_file.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

class Reader {
 public:
  explicit Reader(Neighbour& into) : into_(into) {}

  void take(const Record& record) {
    std::visit(
        [this](const auto& line) {
          into_.last_ns = std::max(into_.last_ns, line.ns);
          in_flight_.take(line);
          take(line);
        },
        record);
  }

  void finish() {
    for (auto& [_, device] : devices_) into_.devices.push_back(std::move(device));
    into_.in_flight = in_flight_.all();
    if (!into_.init) return;
    const auto found = stacks_.find(into_.init->stack);
    if (found != stacks_.end()) into_.init_frames = found->second.frames;
  }

  bool has_ended() const { return has_ended_; }

 private:
  template <class Line>
  void take(const Line&) {}

  void take(const ProcessRecord& line) {
    into_.process = line;
    if (!line.events) live_.restart(false);
  }
  void take(const GapRecord& line) { live_.restart(line.lists_blocks); }
  void take(const CheckpointRecord& line) { live_.take(line); }
  void take(const SiteRecord& line) { take_amount(line); }
  void take(const LiveRecord& line) { take_amount(line); }
  void take(const DeviceRecord& line) { devices_[line.device].identity = line; }
  void take(const TotalsRecord& line) { has_ended_ |= line.at_end; }
  void take(const StackRecord& line) {
    if (!into_.init) stacks_[line.id] = line;
  }
  void take(const PythonRecord& line) { into_.python_places[line.id] = line; }
  void take(const ModuleRecord& line) {
    ModuleRecord& module = into_.all_modules[line.id];
    if (line.path) module = line;
  }
  void take(const FailureRecord& line) { into_.failed_with.insert(line.code); }
  void take(const EventRecord& line) {
    const bool is_cu_init = line.op == schema::op::init && (line.api == "cuInit" || line.in == "cuInit");
    if (is_cu_init && !into_.init) into_.init = line;
    if (line.op == schema::op::context) into_.context_ns = line.ns;
    live_.take(line, has_ended_);
    if (!line.device) return;
    NeighbourDevice& device = devices_[*line.device];
    device.has_context |= line.op == schema::op::context;
    note_bytes(device, line);
  }

  template <class Line>
  void take_amount(const Line& line) {
    live_.take(line);
    if (line.device) note_bytes(devices_[*line.device], line);
  }

  template <class Line>
  void note_bytes(NeighbourDevice& device, const Line& line) {
    device.bytes.note(line.ns, static_cast<std::uint64_t>(std::max<std::int64_t>(0, live_.bytes_on(*line.device))));
  }

  Neighbour& into_;
  CallsInFlight in_flight_;
  LiveTable live_;
  std::map<DeviceOrdinal, NeighbourDevice> devices_;
  std::map<std::uint64_t, StackRecord> stacks_;
  bool has_ended_ = false;
};

std::optional<Neighbour> read(const JournalFiles& files) {
  Neighbour neighbour;
  neighbour.journal = files.segments.front();
  Reader reader(neighbour);
  try {
    read_journal(files, Strictness::lenient, [&reader](const Record& record) { reader.take(record); });
  } catch (const Error&) {
    return std::nullopt;
  }
  reader.finish();
  neighbour.end =
      judge_end(neighbour.process, reader.has_ended(), files.replaced_by_exec, read_status_file(files.status_file()));
  return neighbour;
}

std::vector<JournalFiles> journals_in(const std::filesystem::path& folder) {
  try {
    return find_journals(folder);
  } catch (const Error&) {
    return {};  // a journal may bear any name, and lie among none that bears a journal's
  }
}

}  // namespace

void BytesOverTime::note(std::uint64_t ns, std::uint64_t bytes) {
  if (!values_.empty() && ns < values_.back().first + step_) {
    values_.back().second = bytes;
    return;
  }
  if (values_.size() == most) {
    step_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 1; i < values_.size(); i += 2) values_[kept++] = values_[i];
    values_.resize(kept);
  }
  values_.emplace_back(ns, bytes);
}

std::uint64_t BytesOverTime::at(std::uint64_t ns) const {
  const auto after = std::upper_bound(values_.begin(), values_.end(), ns,
                                      [](std::uint64_t moment, const auto& value) { return moment < value.first; });
  return after == values_.begin() ? 0 : std::prev(after)->second;
}

bool Neighbour::lived_at(std::uint64_t wall_ns) const {
  if (wall_ns < process.wall_ns) return false;
  if (end.how == Ending::running || end.how == Ending::replaced) return true;
  return wall_ns <= process.wall_ns + end.ns.value_or(last_ns);
}

std::optional<std::uint64_t> Neighbour::bytes_at(std::uint64_t wall_ns, const std::string& uuid) const {
  if (wall_ns < process.wall_ns) return std::nullopt;
  for (const auto& device : devices) {
    if (device.identity.uuid == uuid) return device.bytes.at(wall_ns - process.wall_ns);
  }
  return std::nullopt;
}

Neighbourhood::Neighbourhood(const std::filesystem::path& path)
    : folder_(std::filesystem::is_directory(path) ? path : path.parent_path()) {
  if (folder_.empty()) folder_ = ".";
}

const std::vector<Neighbour>& Neighbourhood::all() {
  if (folder_.empty()) return all_;
  for (const auto& files : journals_in(folder_)) {
    if (auto neighbour = read(files)) all_.push_back(*std::move(neighbour));
  }
  folder_.clear();
  return all_;
}

const Neighbour* Neighbourhood::find(const std::string& host, std::int64_t pid, std::uint64_t start,
                                     std::uint64_t wall_ns) {
  const Neighbour* found = nullptr;
  for (const auto& each : all()) {
    const ProcessRecord& process = each.process;
    if (process.host != host || process.pid != pid || process.wall_ns > wall_ns) continue;
    if (start != 0 && process.start != start) continue;
    if (!found || process.wall_ns > found->process.wall_ns) found = &each;
  }
  return found;
}

const Neighbour* Neighbourhood::find_journal(const std::string& file_name) {
  const auto& known = all();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& each) { return each.journal.filename().string() == file_name; });
  return found == known.end() ? nullptr : &*found;
}

std::vector<const Neighbour*> Neighbourhood::children_of(const Neighbour& parent) {
  std::vector<const Neighbour*> children;
  for (const auto& each : all()) {
    const auto& origin = each.process.forked_from;
    if (origin && origin->journal == parent.journal.filename().string()) children.push_back(&each);
  }
  return children;
}

}  // namespace gpumem
