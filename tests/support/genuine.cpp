#include "genuine.hpp"

#include <regex>
#include <sstream>

namespace gpumem::test {
namespace {

std::filesystem::path genuine_folder() { return build_folder() / "genuine"; }

// scripts/genuine leaves a log beside the folder of a part that it could not fetch; its last line says why.
std::string why_not_fetched(const std::string& part) {
  const auto log = genuine_folder() / (part + ".log");
  if (!std::filesystem::exists(log)) return "run scripts/genuine";
  std::istringstream text(read_text(log));
  std::string reason = "its log is empty";
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) reason = line;
  return reason;
}

std::string missing_part(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) return {};
  const std::string part = file.parent_path().filename();
  return "no genuine " + part + ": " + why_not_fetched(part);
}

}  // namespace

GenuineRuntime genuine_runtime(const std::string& version) {
  if (version == "13.0") return {version, toolkit_folder() / "lib64/libcudart.so.13"};
  const auto major = version.substr(0, 2);
  return {version, genuine_folder() / ("cudart-" + version) / ("libcudart.so." + major + (major == "11" ? ".0" : ""))};
}

std::vector<GenuineRuntime> genuine_runtimes(const std::vector<std::string>& versions) {
  std::vector<GenuineRuntime> runtimes;
  for (const auto& version : versions) runtimes.push_back(genuine_runtime(version));
  return runtimes;
}

std::filesystem::path genuine_driver(const std::string& version) { return genuine_folder() / ("driver-" + version); }

std::filesystem::path genuine_system(const std::string& name) { return genuine_folder() / name; }

std::string missing(const GenuineRuntime& runtime) {
  return runtime.version == "13.0" ? missing(Need::genuine_runtime) : missing_part(runtime.file);
}

std::string missing(const std::vector<GenuineRuntime>& runtimes) {
  for (const auto& runtime : runtimes)
    if (const auto reason = missing(runtime); !reason.empty()) return reason;
  return {};
}

std::string missing_driver(const std::string& version) {
  return missing_part(genuine_driver(version) / "libcuda.so.1");
}

std::string missing_system(const std::string& name) { return missing_part(genuine_system(name) / ".made"); }

std::string failures_in_one_line(const Stage& stage) {
  static const std::regex white_space("\\s+");
  const auto report = stage.gpumem({"failures", stage.journals()});
  return report.status == 0 ? std::regex_replace(report.out, white_space, " ") : std::string();
}

}  // namespace gpumem::test
