#include "journal.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace gpumem::test {
namespace {

template <typename Predicate>
Lines select(const Lines& lines, Predicate&& wanted) {
  Lines selected;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(selected), wanted);
  return selected;
}

bool is(const Line& line, const char* key, const Line& value) {
  const auto found = line.find(key);
  return found != line.end() && *found == value;
}

// What follows the last padding byte of a piece is a line; what stands before it was torn by a kill, unless it is
// padding only.
void add_piece(Journal& journal, const std::string& piece, bool ended) {
  const auto padding = piece.find_last_of('\0');
  const auto line = padding == std::string::npos ? piece : piece.substr(padding + 1);
  const auto before = padding == std::string::npos ? std::string() : piece.substr(0, padding);
  if (before.find_first_not_of('\0') != std::string::npos) ++journal.torn;
  if (line.empty()) return;
  if (ended)
    journal.lines.push_back(Line::parse(line));
  else
    ++journal.torn;
}

// "…-0.12.jsonl": the journal's name, and 12; other files have no number.
std::string stem_of(const std::filesystem::path& file) { return file.stem().stem().string(); }

int segment_of(const std::filesystem::path& file) { return std::atoi(file.stem().extension().string().c_str() + 1); }

std::vector<Lines> segments_of(const Lines& lines) {
  std::vector<Lines> segments;
  for (const auto& line : lines) {
    if (segments.empty() || is(line, "t", "process")) segments.emplace_back();
    segments.back().push_back(line);
  }
  return segments;
}

bool is_only_a_beginning(const Lines& segment) {
  return std::any_of(segment.begin(), segment.end(), [](const Line& line) { return is(line, "part", "cut"); });
}

// What a segment says was live, once what its own events say has been taken from it.
std::map<std::uint64_t, Line> live_in_checkpoint(const Lines& segment) {
  std::map<std::uint64_t, Line> live;
  std::uint64_t last_block = ~std::uint64_t{0};
  for (const auto& line : segment) {
    if (is(line, "part", "begin")) last_block = line.at("last_block");
    if (!is(line, "t", "live")) continue;
    for (const auto& block : line.at("blocks")) {
      Line& told = live[block.at(0)] = {{"i", block.at(0)}, {"p", block.at(1)}, {"n", block.at(2)}, {"s", block.at(3)}};
      for (const char* key : {"k", "d", "c"})
        if (line.contains(key)) told[key] = line.at(key);
    }
  }
  for (auto block = live.begin(); block != live.end();)
    block = block->first > last_block ? live.erase(block) : std::next(block);
  return live;
}

void follow(std::map<std::uint64_t, Line>& live, const Lines& segment) {
  for (const auto& line : segment) {
    if (!is(line, "t", "event")) continue;
    const auto end_where = [&](auto&& ends) {
      for (auto block = live.begin(); block != live.end();) block = ends(block->second) ? live.erase(block) : ++block;
    };
    const std::string operation = line.at("op");
    if (operation == "alloc" && line.contains("i")) {
      end_where([&](const Line& block) {
        return block.value("p", "") == line.value("p", "-") && block.at("k") == line.at("k");
      });
      live[line.at("i")] = line;
    } else if (operation == "free" && line.contains("i")) {
      live.erase(line.at("i").get<std::uint64_t>());
    } else if (operation == "context_end") {
      end_where([&](const Line& block) { return block.value("c", 0) == line.at("c"); });
    }
  }
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

Journal read_journal(const std::filesystem::path& file) {
  Journal journal{file, {}, 0};
  const auto text = read_text(file);
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    add_piece(journal, text.substr(start, end - start), true);
  add_piece(journal, text.substr(start), false);
  return journal;
}

std::vector<Journal> read_journals(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return std::pair(stem_of(a), segment_of(a)) < std::pair(stem_of(b), segment_of(b));
  });
  std::vector<Journal> journals;
  for (const auto& file : files) {
    auto segment = read_journal(file);
    if (journals.empty() || stem_of(journals.back().file) != stem_of(file)) {
      journals.push_back(std::move(segment));
    } else {
      auto& known = journals.back();
      known.lines.insert(known.lines.end(), segment.lines.begin(), segment.lines.end());
      known.torn += segment.torn;
    }
  }
  return journals;
}

Journal read_only_journal(const std::filesystem::path& folder) {
  auto journals = read_journals(folder);
  if (journals.size() == 1) return std::move(journals[0]);
  throw std::runtime_error(folder.string() + " holds " + std::to_string(journals.size()) + " journals instead of one");
}

Lines Journal::of_type(const std::string& type) const {
  return select(lines, [&](const Line& line) { return is(line, "t", type); });
}

Lines Journal::events(const std::string& operation) const {
  return select(of_type("event"), [&](const Line& line) { return is(line, "op", operation); });
}

Lines Journal::allocations(const std::string& kind) const {
  return select(events("alloc"), [&](const Line& line) { return kind.empty() || is(line, "k", kind); });
}

Lines Journal::allocations_of(std::uint64_t bytes) const {
  return select(events("alloc"), [&](const Line& line) { return is(line, "n", bytes); });
}

Lines Journal::live_at_end() const {
  std::map<std::uint64_t, Line> live;
  int next = 0;
  for (const auto& segment : segments_of(lines)) {
    if (is_only_a_beginning(segment)) continue;
    const int number = segment[0].value("segment", 0);
    if (number != next) live = live_in_checkpoint(segment);
    follow(live, segment);
    next = number + 1;
  }
  Lines blocks;
  for (auto& [number, line] : live) blocks.push_back(line);
  return blocks;
}

std::uint64_t Journal::peak(const std::string& kind) const {
  std::uint64_t highest = 0;
  for (const auto& line : allocations(kind)) highest = std::max(highest, line.at("u").get<std::uint64_t>());
  return highest;
}

std::vector<std::string> Journal::modules_of_stack(std::uint64_t stack) const {
  std::map<std::string, std::string> paths;
  for (const auto& line : of_type("module"))
    paths[std::to_string(line.at("id").get<std::uint64_t>())] = line.at("path");
  std::vector<std::string> modules;
  for (const auto& line : of_type("stack"))
    if (line.at("id") == stack)
      for (const std::string frame : line.at("f"))
        if (!frame.starts_with("py:")) modules.push_back(paths[frame.substr(0, frame.find(':'))]);
  return modules;
}

}  // namespace gpumem::test
