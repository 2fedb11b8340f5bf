// The list of intercepted functions against the toolkit's headers: nothing that speaks of memory is forgotten.
#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "api/api_table.hpp"
#include "catch.hpp"

namespace {

struct Uncovered {
  std::string pattern, reason;
};
const std::vector<Uncovered> uncovered = {
#define UNCOVERED(name, reason) {#name, reason},
#include "api/uncovered.def"
#undef UNCOVERED
};

std::set<std::string> declared_functions() {
  std::ostringstream text;
  std::istringstream files(CUDA_DECLARATIONS);
  for (std::string file; std::getline(files, file);) text << std::ifstream(file).rdbuf();
  const std::string declarations = text.str();
  const std::regex function(R"(\b(cu(?:da)?[A-Z]\w*)\s*\()");
  std::set<std::string> names;
  for (std::sregex_iterator found(declarations.begin(), declarations.end(), function), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

bool speaks_of_memory(const std::string& name) {
  static const std::regex words("alloc|free|create|destroy|import|export|map|register|reserve|load", std::regex::icase);
  return std::regex_search(name, words);
}

std::string plain_form(const std::string& name) {
  static const std::regex per_thread("_pt[ds][sz]$");
  return std::regex_replace(name, per_thread, "");
}

}  // namespace

TEST_CASE("every function of the headers that speaks of memory is a row, or has a reason why not") {
  const auto names = declared_functions();
  REQUIRE(names.size() > 800);
  REQUIRE(names.contains("cuGLCtxCreate_v2"));
  std::set<std::string> used;
  for (const auto& name : names) {
    if (!speaks_of_memory(name) || gpumem::find_api(name.c_str()) != gpumem::ApiId::none) continue;
    const auto why = std::find_if(uncovered.begin(), uncovered.end(), [&](const Uncovered& entry) {
      return fnmatch(entry.pattern.c_str(), plain_form(name).c_str(), 0) == 0;
    });
    INFO(name);
    CHECK(why != uncovered.end());
    if (why != uncovered.end()) used.insert(why->pattern);
  }
  for (const auto& [pattern, reason] : uncovered) {
    INFO(pattern);
    CHECK(reason.size() > 5);
    // These came after CUDA 13.0.
    if (!pattern.starts_with("cuLogicalEndpoint") && !pattern.starts_with("cuCoredump")) CHECK(used.contains(pattern));
  }
}
