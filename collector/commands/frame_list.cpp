#include "commands/frame_list.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "model/error.hpp"

namespace gpumem {

std::string usual_frame_list() {
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config && *config)
    return std::string(config) + "/gpumem/frames";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.config/gpumem/frames" : "";
}

FrameRules frame_rules(const std::string& chosen) {
  FrameRules rules = FrameRules::built_in();
  const std::string path = chosen.empty() ? usual_frame_list() : chosen;
  if (path.empty()) return rules;
  std::ifstream file(path);
  if (!file) {
    if (chosen.empty() && errno == ENOENT) return rules;
    throw Error(path + ": the list of frames cannot be read: " + std::strerror(errno));
  }
  rules.prefer(std::string(std::istreambuf_iterator<char>(file), {}), path);
  return rules;
}

}  // namespace gpumem
