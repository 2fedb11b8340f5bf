#include "analyze/frame_rules.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>

#include "model/error.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

constexpr std::string_view list =
#include "frame_rules.inc"
    ;

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

constexpr Word<FrameOwner> owners[] = {
    {"user", FrameOwner::user}, {"framework", FrameOwner::framework}, {"allocator", FrameOwner::allocator},
    {"cuda", FrameOwner::cuda}, {"language", FrameOwner::language},   {"interpreter", FrameOwner::interpreter},
};

template <class Words>
auto find_word(const Words& words, std::string_view text) {
  const auto found =
      std::find_if(std::begin(words), std::end(words), [&](const auto& word) { return word.text == text; });
  return found == std::end(words) ? nullptr : &found->value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// Cuts the first word off.
std::string_view take_word(std::string_view& text) {
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

bool matches(const std::string& pattern, std::string_view name) {
  return ::fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
}

// A library that passes CUDA's functions on, as TensorFlow's does, has functions of their names. Names of C++ show
// their parameters.
bool is_name_of_cuda(std::string_view function) {
  for (const std::string_view prefix : {"cuda", "cu"}) {
    if (!function.starts_with(prefix) || function.size() == prefix.size()) continue;
    const char next = function[prefix.size()];
    if (next >= 'A' && next <= 'Z') return function.find('(') == std::string_view::npos;
  }
  return false;
}

}  // namespace

FrameRules::FrameRules() : rules_(parse(list, "the built-in list")) {}

const FrameRules& FrameRules::built_in() {
  static const FrameRules rules;
  return rules;
}

std::string_view FrameRules::built_in_text() { return list; }

std::vector<FrameRules::Rule> FrameRules::parse(std::string_view text, const std::string& source) {
  static constexpr Word<What> whats[] = {{"module", What::module},
                                         {"function", What::function},
                                         {"runtime-function", What::runtime_function},
                                         {"python", What::python}};
  std::vector<Rule> rules;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::string place = source + ", line " + std::to_string(number) + ": ";
    const auto owner_word = take_word(line), what_word = take_word(line);
    const FrameOwner* owner = find_word(owners, owner_word);
    const What* what = find_word(whats, what_word);
    if (!owner)
      throw Error(place + "\"" + std::string(owner_word) + "\" is no owner of a frame; see gpumem help frames");
    if (!what)
      throw Error(place + "\"" + std::string(what_word) +
                  "\" must be module, function, runtime-function or python; see gpumem help frames");
    if (line.empty()) throw Error(place + "the pattern is missing");
    rules.push_back({*owner, *what, std::string(line)});
  }
  return rules;
}

void FrameRules::prefer(std::string_view text, const std::string& source) {
  std::vector<Rule> first = parse(text, source);
  rules_.insert(rules_.begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
}

const FrameRules::Rule* FrameRules::find(What what, std::string_view name) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const Rule& rule) { return rule.what == what && matches(rule.pattern, name); });
  return found == rules_.end() ? nullptr : &*found;
}

const FrameRules::Rule* FrameRules::find_file(What what, std::string_view path) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    const bool is_path = rule.pattern.find('/') != std::string::npos;
    return rule.what == what && matches(rule.pattern, is_path ? path : name);
  });
  return found == rules_.end() ? nullptr : &*found;
}

FrameOwner FrameRules::of_module(std::string_view path, std::string_view role) const {
  if (role == schema::role::driver || role == schema::role::runtime) return FrameOwner::cuda;
  const Rule* rule = find_file(What::module, path);
  return rule ? rule->owner : FrameOwner::user;
}

FrameOwner FrameRules::of_function(FrameOwner module_owner, std::string_view role, std::string_view function) const {
  if (module_owner != FrameOwner::user && module_owner != FrameOwner::framework) return module_owner;
  if (is_name_of_cuda(function)) return FrameOwner::cuda;
  const Rule* rule = role == schema::role::static_runtime ? find(What::runtime_function, function) : nullptr;
  if (!rule) rule = find(What::function, function);
  return rule ? rule->owner : module_owner;
}

FrameOwner FrameRules::of_python(std::string_view file) const {
  const Rule* rule = find_file(What::python, file);
  return rule ? rule->owner : FrameOwner::user;
}

}  // namespace gpumem
