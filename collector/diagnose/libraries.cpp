#include "diagnose/libraries.hpp"

#include <algorithm>
#include <map>

#include "analyze/sizes.hpp"
#include "diagnose/holders.hpp"
#include "forensics/gpu_libraries.hpp"

namespace gpumem {
namespace {

constexpr std::size_t most_differences = 8;

// Files of one name without its version: "libcudart" of libcudart.so.12.
using Library = std::vector<const ModuleRecord*>;
using Libraries = std::map<std::string, Library>;

std::string plain_name(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.find(".so"));
}

Libraries libraries_of(const Modules& all) {
  Libraries found;
  for (const auto& [_, module] : all) {
    if (module.path && module.path->starts_with('/')) found[plain_name(*module.path)].push_back(&module);
  }
  return found;
}

bool has_to_do_with_gpus(const Library& library) {
  return std::any_of(library.begin(), library.end(),
                     [](const ModuleRecord* file) { return file->role || is_gpu_library(file->path->c_str()); });
}

bool is_same_file(const ModuleRecord& one, const ModuleRecord& other) {
  return one.path == other.path && one.build_id == other.build_id;
}

// Files of the one that the other has not.
Library without(const Library& one, const Library& other) {
  Library rest;
  for (const ModuleRecord* file : one) {
    const bool is_there =
        std::any_of(other.begin(), other.end(), [&](const ModuleRecord* known) { return is_same_file(*file, *known); });
    if (!is_there) rest.push_back(file);
  }
  return rest;
}

std::string file_text(const ModuleRecord& file) {
  constexpr std::size_t telling = 12;  // of the build-id's digits
  std::string details = file.build_id ? "build " + file.build_id->substr(0, telling) : "";
  if (file.asks) details += (details.empty() ? "" : ", ") + std::string("cudart ") + version_text(*file.asks);
  return *file.path + (details.empty() ? "" : " (" + details + ")");
}

std::string files_text(const Library& library) {
  std::string text;
  for (const ModuleRecord* file : library) text += (text.empty() ? "" : " and ") + file_text(*file);
  return text;
}

bool is_same_build(const Library& one, const Library& other) {
  return one.size() == 1 && other.size() == 1 && one[0]->build_id && one[0]->build_id == other[0]->build_id;
}

// The one to be held against the failed process: of the same program if there is such a one, then the nearest in time.
const Neighbour* one_that_started(const Scene& scene) {
  const ProcessRecord& self = scene.process().process;
  const auto distance = [&](const Neighbour& other) {
    const auto [earlier, later] = std::minmax(self.wall_ns, other.process.wall_ns);
    return std::pair(other.process.exe != self.exe, later - earlier);
  };
  const Neighbour* nearest = nullptr;
  for (const Neighbour& other : scene.neighbours().all()) {
    if (other.process.host != self.host || !other.context_ns) continue;
    if (other.process.pid == self.pid && other.process.start == self.start) continue;
    if (other.failed_with.contains(scene.failure().code)) continue;
    if (!nearest || distance(other) < distance(*nearest)) nearest = &other;
  }
  return nearest;
}

class Comparison {
 public:
  Comparison(const Scene& scene, const Neighbour& good) : scene_(scene), good_(good) {
    const Libraries here = libraries_of(scene.process().all_modules), there = libraries_of(good.all_modules);
    for (const auto& [name, files] : here) {
      const auto same_name = there.find(name);
      compare(files, same_name == there.end() ? Library() : same_name->second);
    }
    for (const auto& [name, files] : there) {
      if (!here.contains(name)) compare({}, files);
    }
    std::stable_sort(differences_.begin(), differences_.end(),
                     [](const Difference& one, const Difference& other) { return one.rank < other.rank; });
  }

  std::vector<Evidence> tell() const {
    const std::string who = "process " + std::to_string(good_.process.pid) + " (" + command_words(good_.process.argv) +
                            "), which did start CUDA, ";
    const std::string journal = good_.journal.filename().string();
    if (differences_.empty()) return {{who + "had the same GPU libraries", std::nullopt, journal}};
    std::vector<Evidence> told;
    for (const auto& [_, text, here] : differences_) {
      if (told.size() == most_differences) {
        told.push_back(
            {"and " + count_of(differences_.size() - told.size(), "more difference"), std::nullopt, journal});
        break;
      }
      const std::string clause = (told.empty() ? who : "it ") + text;
      told.push_back(here ? scene_.from_module(clause, *here) : Evidence{clause, std::nullopt, journal});
    }
    return told;
  }

 private:
  enum Rank { in_both, only_here, only_there };
  struct Difference {
    Rank rank;
    std::string text;
    const ModuleRecord* here;  // null: this process had no such file
  };

  void compare(const Library& here, const Library& there) {
    const bool only_one_has_it = here.empty() || there.empty();
    if (only_one_has_it && !has_to_do_with_gpus(here.empty() ? there : here)) return;
    const Library other_here = without(here, there), other_there = without(there, here);
    if (!other_here.empty() && !other_there.empty()) {
      const std::string same = is_same_build(other_here, other_there) ? ", a copy of the same build" : "";
      differences_.push_back({in_both,
                              "had " + files_text(other_there) + ", and this one " + files_text(other_here) + same,
                              other_here[0]});
    } else if (!other_here.empty()) {
      differences_.push_back(
          {only_here, "had not loaded " + files_text(other_here) + ", as this one had", other_here[0]});
    } else if (!other_there.empty()) {
      differences_.push_back(
          {only_there, "had " + files_text(other_there) + ", which this one had not loaded when it failed", nullptr});
    }
  }

  const Scene& scene_;
  const Neighbour& good_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Evidence> compare_libraries(const Scene& scene) {
  const Neighbour* good = one_that_started(scene);
  return good ? Comparison(scene, *good).tell() : std::vector<Evidence>();
}

}  // namespace gpumem
