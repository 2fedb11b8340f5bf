#include "commands/named_journals.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "commands/run_journals.hpp"
#include "model/error.hpp"
#include "model/journal_reader.hpp"
#include "model/journal_set.hpp"
#include "model/proc_stat.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> process_id(const std::string& text) {
  std::int64_t pid = 0;
  const auto [stop, trouble] = std::from_chars(text.data(), text.data() + text.size(), pid);
  std::error_code ignored;
  const bool is_number = !text.empty() && trouble == std::errc() && stop == text.data() + text.size() && pid > 0;
  return is_number && !fs::exists(text, ignored) ? std::optional(pid) : std::nullopt;
}

// As the program was started; what it has set since is not seen.
std::string variable_of(const fs::path& process, const std::string& name) {
  std::ifstream file(process / "environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "";
}

// In the order in which the shim tries them.
std::vector<fs::path> folders_of(const fs::path& process) {
  std::vector<fs::path> folders;
  const fs::path cwd = process / "cwd";
  if (const auto chosen = variable_of(process, "GPUMEM_DIR"); !chosen.empty()) folders.push_back(cwd / chosen);
  folders.push_back(cwd / "gpumem");
  struct stat owner {};
  if (::stat(process.c_str(), &owner) == 0) {
    const auto temporary = variable_of(process, "TMPDIR");
    folders.push_back(fs::path(temporary.empty() ? "/tmp" : temporary) / ("gpumem-" + std::to_string(owner.st_uid)));
  }
  return folders;
}

std::string journal_of(std::int64_t pid) {
  const auto stat = read_proc_stat(pid);
  if (!stat) throw Error("No process " + std::to_string(pid) + " runs here; name its journal or the folder of it.");
  std::string looked_in;
  for (const auto& folder : folders_of("/proc/" + std::to_string(pid))) {
    std::error_code trouble;
    const fs::path real = fs::canonical(folder, trouble);
    looked_in += (looked_in.empty() ? "" : ", ") + (trouble ? folder : real).string();
    if (trouble) continue;
    std::string newest;
    try {
      for (const auto& files : find_journals(real)) {
        const auto process = read_process_line(files);
        if (process && process->pid == pid && process->start == stat->start) newest = files.segments.front().string();
      }
    } catch (const Error&) {
      // No journal in it.
    }
    if (!newest.empty()) return newest;
  }
  throw Error("Process " + std::to_string(pid) + " has no journal in " + looked_in +
              ": it does not run under the shim, or has made no CUDA call yet.");
}

}  // namespace

std::string named_path(const std::string& path_or_pid) {
  const auto pid = process_id(path_or_pid);
  return pid ? journal_of(*pid) : path_or_pid;
}

std::string usual_folder() {
  const char* chosen = std::getenv("GPUMEM_DIR");
  std::string named;
  for (const auto& folder : journal_folders(chosen && *chosen ? chosen : "gpumem")) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) return folder.string();
    named += (named.empty() ? "" : " and no ") + folder.string();
  }
  throw Error("There is no " + named + "; name a journal, a folder of journals or the id of a process.");
}

}  // namespace gpumem
