// The output that the documentation shows is what the tool prints. GPUMEM_UPDATE_README=1 writes it there.
#include <cstdlib>
#include <regex>
#include <sstream>

#include "situations.hpp"

using namespace gpumem::test;

namespace {

struct Example {
  std::string command, shown, printed;
};

// Runs the examples of a text: each is a comment "<!-- output of: COMMAND -->" and the fenced block after it. Returns
// the text with what the commands print.
template <typename Print>
std::string run_examples(const std::string& text, std::vector<Example>& examples, Print&& print) {
  static const std::regex marker("<!-- output of: (.*) -->");
  std::istringstream lines(text);
  std::string line, updated;
  std::smatch match;
  const auto is_fence = [&] { return line.rfind("```", 0) == 0; };
  while (std::getline(lines, line)) {
    updated += line + "\n";
    if (!std::regex_match(line, match, marker)) continue;
    Example example{match[1], {}, print(match[1])};
    while (std::getline(lines, line) && !is_fence()) updated += line + "\n";
    updated += line + "\n" + example.printed;
    while (std::getline(lines, line) && !is_fence()) example.shown += line + "\n";
    updated += line + "\n";
    examples.push_back(std::move(example));
  }
  return updated;
}

std::string without(std::string text, const std::string& prefix) {
  for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
  return text;
}

// What differs from run to run: folders, journal names, process ids, addresses, clock times, durations, how often the
// driver was asked, and with the length of the folders the places where lines are broken. The kernel driver and the
// memory are the machine's own.
std::string without_volatile_parts(std::string text) {
  static const std::pair<std::regex, const char*> volatile_parts[] = {
      {std::regex("kernel driver: [^\n]*"), "kernel driver: VERSION"},
      {std::regex(R"(\s+)"), " "},
      {std::regex(R"([\w.+-]*(/[\w.+-]+)*/([\w.+-]+))"), "$2"},
      {std::regex(R"(gpumem-[\w.-]+-\d+-\d+-\d+)"), "JOURNAL"},
      {std::regex("0x[0-9a-f]+"), "ADDRESS"},
      {std::regex("the machine had [0-9.]+ [KMGT]iB of RAM"), "the machine had SIZE of RAM"},
      {std::regex(R"(\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?( [+-]\d{4})?)?)"), "TIME"},
      {std::regex(R"(\b(pid|process|Thread) \d+)"), "$1 ID"},
      {std::regex(R"(\b\d+(\.\d+)? (ns|us|µs|ms|s|seconds)\b)"), "DURATION"},
      {std::regex(R"(\(\d+ samples\))"), "(SAMPLES)"},
      {std::regex(R"(per window: .*?[^\d]\. )"), "per window: WINDOWS "},
  };
  for (const auto& [pattern, replacement] : volatile_parts) text = std::regex_replace(text, pattern, replacement);
  return text;
}

// A server fills the first of two devices; then a program of the runtime starts.
void start_on_a_full_device(const Stage& stage, const std::filesystem::path& journals) {
  const auto held = stage.folder() / "held";
  const std::string server = "exec -a serve " + program("situation") + " start retain alloc=15800 hold=held";
  const auto start = [&](int pid) {
    for (int waited = 0; waited < 2000 && !std::filesystem::exists(held); ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(stage.gpumem({"run", "-o", journals, "--quiet", "--", program("start_shared")}).status == 1);
    kill(pid, SIGKILL);
  };
  stage.run({{"bash", "-c", server}, stage.bare_environment(), stage.folder(), std::chrono::seconds(120), start});
}

}  // namespace

TEST_CASE("readme: every shown output is what the command prints") {
  NEEDS(scripted_driver);
  NEEDS(nvcc);
  // The folders that the commands of README.md name: `gpumem` of the demonstration, `start` of a failed start.
  Stage stage, full;
  REQUIRE(stage.gpumem({"run", "-o", stage.folder() / "gpumem", "--quiet", "--", demo()}).status == 0);
  start_on_a_full_device(share(full, {{"devices", {Line::object(), Line::object()}}}), stage.folder() / "start");

  const std::string document = GENERATE("README.md", "docs/SETTINGS.md");
  const auto file = source_folder() / document;
  std::vector<Example> examples;
  const auto updated = run_examples(read_text(file), examples, [&](const std::string& command) {
    const auto words = std::regex_replace(command, std::regex("^gpumem "), collector().string() + " ");
    const auto outcome = stage.run({{"sh", "-c", words}, stage.bare_environment()});
    INFO(outcome);
    CHECK(outcome.status == 0);
    return without(without(outcome.out, stage.folder().string() + "/"), source_folder().string() + "/");
  });
  CHECK_FALSE(examples.empty());
  if (getenv("GPUMEM_UPDATE_README")) return write_text(file, updated);
  for (const auto& example : examples) {
    INFO(document << ": " << example.command);
    CHECK(without_volatile_parts(example.printed) == without_volatile_parts(example.shown));
  }
}
