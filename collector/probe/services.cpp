#include "probe/services.hpp"

#include <algorithm>
#include <cstdlib>

#include "probe/files.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// The kernel keeps 15 characters of a name, so the daemon and the servers of MPS share one.
constexpr const char* mps_name = "nvidia-cuda-mps";
constexpr const char* fabric_manager_name = "nv-fabricmanage";

ordered_json numbers_of(const ProcessScan& scan, const char* name) {
  const auto found = scan.named.find(name);
  return found == scan.named.end() ? ordered_json::array() : ordered_json(found->second);
}

bool has_switch_node(const fs::path& folder) {
  std::error_code ignored;
  const fs::directory_iterator nodes(folder, ignored);
  return std::any_of(begin(nodes), end(nodes),
                     [](const auto& entry) { return entry.path().filename().string().starts_with("nvidia-nvswitch"); });
}

ordered_json switches_exist(const fs::path& root) {
  if (has_switch_node(root / "dev") || is_there(root / "proc/driver/nvidia-nvswitch")) return true;
  return is_there(root / "proc/driver") ? ordered_json(false) : ordered_json();
}

}  // namespace

ordered_json mps(const ProcessScan& scan) {
  const char* chosen = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const fs::path folder = chosen ? chosen : "/tmp/nvidia-mps";
  return {{"pipe_directory", folder.string()},
          {"chosen", chosen != nullptr},
          {"exists", is_there(folder)},
          {"control_exists", is_there(folder / "control")},
          {"processes", numbers_of(scan, mps_name)}};
}

ordered_json fabric_manager(const fs::path& root, const ProcessScan& scan) {
  return {{"needed", switches_exist(root)}, {"processes", numbers_of(scan, fabric_manager_name)}};
}

}  // namespace gpumem
