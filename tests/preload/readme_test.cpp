// The output that README.md shows is what the tool prints.
#include <regex>
#include <sstream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

struct Example {
    std::string command, output;
};

// Every fenced block that follows a comment "<!-- output of: COMMAND -->".
std::vector<Example> examples() {
    const auto file = source_folder() / "README.md";
    if (!std::filesystem::exists(file)) return {};
    static const std::regex marker("<!-- output of: (.*) -->");
    std::istringstream text(read_text(file));
    std::vector<Example> found;
    std::smatch match;
    for (std::string line; std::getline(text, line);) {
        if (!std::regex_match(line, match, marker)) continue;
        Example example{match[1], {}};
        while (std::getline(text, line) && line.rfind("```", 0) != 0) {}
        while (std::getline(text, line) && line.rfind("```", 0) != 0) example.output += line + "\n";
        found.push_back(example);
    }
    return found;
}

// What differs from run to run: folders, journal names, process ids, addresses, clock times, durations, and with the
// length of the folders the places where lines are broken.
std::string without_volatile_parts(std::string text) {
    static const std::pair<std::regex, const char*> volatile_parts[] = {
        {std::regex(R"([\w.+-]*(/[\w.+-]+)*/([\w.+-]+))"), "$2"},
        {std::regex(R"(gpumem-[\w.-]+-\d+-\d+-\d+)"), "JOURNAL"},
        {std::regex("0x[0-9a-f]+"), "ADDRESS"},
        {std::regex(R"(\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?)"), "TIME"},
        {std::regex(R"(\b(pid|process|Thread) +\d+)"), "$1 ID"},
        {std::regex(R"(bytes per window: [\s\S]*?[^\d]\.\s)"), "bytes per window: WINDOWS "},
        {std::regex(R"(\b\d+([.,]\d+)? ?(ns|us|µs|ms|s|seconds)\b)"), "DURATION"},
        {std::regex(R"(\s+)"), " "},
    };
    for (const auto& [pattern, replacement] : volatile_parts) text = std::regex_replace(text, pattern, replacement);
    return text;
}

}  // namespace

TEST_CASE("readme: every shown output is what the command prints of the demonstration") {
    NEEDS(scripted_driver);
    const auto shown = examples();
    REQUIRE_FALSE(shown.empty());
    Stage stage;
    REQUIRE(stage.gpumem({"run", "-o", stage.folder() / "gpumem", "--quiet", "--", demo()}).status == 0);
    for (const auto& [command, output] : shown) {
        INFO(command);
        const auto words = std::regex_replace(command, std::regex(R"(^(\S*/)?gpumem )"), collector().string() + " ");
        const auto printed = stage.run({{"sh", "-c", words}, stage.bare_environment()});
        CHECK(printed.status == 0);
        CHECK(without_volatile_parts(printed.out) == without_volatile_parts(output));
    }
}
