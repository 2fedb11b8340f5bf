#include "model/journal_set.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "model/error.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || trouble != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

struct FileName {
  std::string identity;  // gpumem-<host>-<pid>-<start>
  std::uint64_t n = 0;
  std::uint64_t segment = 0;
};

std::optional<FileName> parse_name(std::string_view name) {
  if (!name.starts_with(schema::file_prefix) || !name.ends_with(schema::journal_suffix)) return std::nullopt;
  name.remove_suffix(schema::journal_suffix.size());
  const auto dot = name.rfind('.');
  const auto dash = name.rfind('-', dot);
  if (dot == std::string_view::npos || dash == std::string_view::npos) return std::nullopt;
  const auto n = number(name.substr(dash + 1, dot - dash - 1));
  const auto segment = number(name.substr(dot + 1));
  if (!n || !segment) return std::nullopt;
  return FileName{std::string(name.substr(0, dash)), *n, *segment};
}

using ProcessKey = std::pair<std::string, std::uint64_t>;
using SegmentsByProcess = std::map<ProcessKey, std::map<std::uint64_t, fs::path>>;

SegmentsByProcess list_folder(const fs::path& folder) {
  SegmentsByProcess found;
  std::error_code trouble;
  for (fs::directory_iterator entry(folder, trouble), last; !trouble && entry != last; entry.increment(trouble)) {
    const auto name = parse_name(entry->path().filename().string());
    std::error_code ignored;
    if (name && entry->is_regular_file(ignored)) found[{name->identity, name->n}][name->segment] = entry->path();
  }
  if (trouble) throw Error(folder.string() + " cannot be read: " + trouble.message() + ".");
  return found;
}

JournalFiles files_of(const SegmentsByProcess& all, SegmentsByProcess::const_iterator process) {
  const auto& [identity, n] = process->first;
  JournalFiles files;
  files.stem = (process->second.begin()->second.parent_path() / (identity + "-" + std::to_string(n))).string();
  for (const auto& [_, path] : process->second) files.segments.push_back(path);
  const auto next = std::next(process);
  files.replaced_by_exec = next != all.end() && next->first.first == identity;
  return files;
}

// Of the folders directly inside: comma-separated, a few of them; empty where none holds a journal.
std::string folders_with_journals(const fs::path& path) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> found;
  std::error_code trouble;
  for (fs::directory_iterator entry(path, trouble), last; !trouble && entry != last; entry.increment(trouble)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) continue;
    try {
      if (!list_folder(entry->path()).empty()) found.push_back(entry->path().string());
    } catch (const Error&) {
      // Not ours to read.
    }
  }
  std::sort(found.begin(), found.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), most_named); ++i) text += (i > 0 ? ", " : "") + found[i];
  return found.size() > most_named ? text + " and others" : text;
}

std::string without_suffix(std::string name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

}  // namespace

fs::path JournalFiles::status_file() const { return stem + std::string(schema::status_suffix); }
fs::path JournalFiles::symbols_file() const { return stem + std::string(schema::symbols_suffix); }

fs::path JournalFiles::marks_file() const { return stem + std::string(schema::marks_suffix); }

std::uint64_t segment_number(const fs::path& file) {
  const auto name = parse_name(file.filename().string());
  return name ? name->segment : 0;
}

std::vector<JournalFiles> find_journals(const fs::path& path) {
  if (path.empty()) throw Error("The path is empty; name a journal (gpumem-*.jsonl) or the folder that holds it.");
  std::error_code trouble;
  const auto status = fs::status(path, trouble);
  if (!fs::exists(status)) {
    throw Error(path.string() + " does not exist; name a journal (gpumem-*.jsonl) or the folder that holds it.");
  }
  std::vector<JournalFiles> result;
  if (fs::is_directory(status)) {
    const auto all = list_folder(path);
    for (auto process = all.begin(); process != all.end(); ++process) result.push_back(files_of(all, process));
    if (result.empty()) {
      if (const auto deeper = folders_with_journals(path); !deeper.empty()) {
        throw Error(path.string() + " holds no journal itself, but these folders in it do: " + deeper + ".");
      }
      throw Error(path.string() +
                  " holds no journal (gpumem-*.jsonl): either no program ran under the shim with this "
                  "folder, or none of them made a CUDA call.");
    }
    return result;
  }
  if (const auto name = parse_name(path.filename().string())) {
    const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const auto all = list_folder(folder);
    const auto process = all.find({name->identity, name->n});
    if (process != all.end()) return {files_of(all, process)};
  }
  return {JournalFiles{without_suffix(path.string(), schema::journal_suffix), {path}, false}};
}

}  // namespace gpumem
