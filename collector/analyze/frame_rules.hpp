// Which frames of a stack are not the user's own code: CUDA's, an allocator's, a framework's, the language's.
//
// The rules are data (frame_rules.txt, which describes them): to fold one more library, add a line there, or in a list
// of one's own (`gpumem help frames`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpumem {

enum class FrameOwner {
  user,
  framework,    // libraries that the user's code calls, installed Python packages
  allocator,    // those between the two, by name: caching allocators and pools
  cuda,         // driver, runtime, and the bindings that only pass calls on
  language,     // libc, the C++ runtime, the loader
  interpreter,  // the Python interpreter, its library and its foreign-function layer
};

class FrameRules {
 public:
  // The list that gpumem brings along.
  FrameRules();
  static const FrameRules& built_in();
  static std::string_view built_in_text();

  // Puts the lines of a list of the same form before the others. Throws Error, which names `source` and the line.
  void prefer(std::string_view text, const std::string& source);

  // By the file that native code lies in; `role` is the module's role in the journal, or empty.
  FrameOwner of_module(std::string_view path, std::string_view role) const;

  // By the name of the function as well. A module with a static runtime holds the user's code and CUDA's side by side.
  FrameOwner of_function(FrameOwner module_owner, std::string_view role, std::string_view function) const;

  // By the file that Python code comes from.
  FrameOwner of_python(std::string_view file) const;

 private:
  enum class What { module, function, runtime_function, python };
  struct Rule {
    FrameOwner owner;
    What what;
    std::string pattern;
  };

  static std::vector<Rule> parse(std::string_view text, const std::string& source);
  const Rule* find(What what, std::string_view name) const;
  const Rule* find_file(What what, std::string_view path) const;

  std::vector<Rule> rules_;
};

}  // namespace gpumem
