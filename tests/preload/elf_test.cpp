// The shim loads everywhere and shows exactly what it must: its dependencies, symbol versions and exports.
#include <algorithm>
#include <set>
#include <sstream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

std::string readelf(const char* option) {
  const auto outcome = run({{"readelf", "--wide", option, shim()}, plain_environment()});
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

std::vector<std::vector<std::string>> words_by_line(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return lines;
}

// "GLIBC_2.28" as {2, 28, 0}
std::vector<int> version_numbers(const std::string& name) {
  std::vector<int> numbers;
  std::istringstream stream(name.substr(name.find('_') + 1));
  for (std::string part; std::getline(stream, part, '.');) numbers.push_back(std::stoi(part));
  return numbers;
}

}  // namespace

TEST_CASE("elf: only glibc's own libraries are needed") {
  NEEDS(readelf);
  const std::set<std::string> allowed{"[libc.so.6]", "[libm.so.6]", "[libdl.so.2]", "[libpthread.so.0]",
                                      "[ld-linux-x86-64.so.2]"};
  int needed = 0;
  for (const auto& words : words_by_line(readelf("--dynamic"))) {
    if (std::find(words.begin(), words.end(), "(NEEDED)") == words.end()) continue;
    ++needed;
    INFO(words.back());
    CHECK(allowed.count(words.back()) == 1);
  }
  CHECK(needed > 0);
}

TEST_CASE("elf: no symbol versions of our own, and none of glibc after 2.28") {
  NEEDS(readelf);
  const auto text = readelf("--version-info");
  CHECK(text.find("Version definition section") == std::string::npos);
  int versions = 0;
  for (const auto& words : words_by_line(text))
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] != "Name:") continue;
      ++versions;
      INFO(words[i + 1]);
      CHECK(words[i + 1].rfind("GLIBC_", 0) == 0);
      CHECK(version_numbers(words[i + 1]) <= std::vector<int>{2, 28});
    }
  CHECK(versions > 0);
}

TEST_CASE("elf: the exports are the rows of the two lists, no more and no less") {
  NEEDS(readelf);
  std::set<std::string> expected, exported;
  for (const char* list : {"shim/api/cuda_api.def", "shim/api/host_api.def"})
    for (const auto& symbol : listed_symbols(list)) expected.insert(symbol);
  CHECK(expected.size() > 40);
  // Num: Value Size Type Bind Vis Ndx Name
  for (const auto& words : words_by_line(readelf("--dyn-syms"))) {
    if (words.size() != 8 || words[6] == "UND" || words[6] == "Ndx") continue;
    INFO(words[7]);
    CHECK(words[4] != "UNIQUE");
    CHECK(words[3] == "FUNC");
    exported.insert(words[7]);
  }
  CHECK(exported == expected);
}

TEST_CASE("elf: nothing of the C++ library is imported") {
  NEEDS(readelf);
  for (const auto& words : words_by_line(readelf("--dyn-syms"))) {
    if (words.size() < 8 || words[6] != "UND") continue;
    INFO(words[7]);
    CHECK(words[7].rfind("_Z", 0) != 0);
    CHECK(words[7].rfind("__cxa_throw", 0) != 0);
  }
}
