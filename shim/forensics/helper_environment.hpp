// The environment of a helper: this process's, without what the loader would load into it.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/pages.hpp"
#include "forensics/process_facts.hpp"

namespace gpumem {

// What was set at exec, but for the recorded variables, which have their present values: others are not looked at,
// because another thread may be changing them. The shim is switched off.
class HelperEnvironment {
 public:
  explicit HelperEnvironment(const ProcessFacts& facts);

  // Ended by nullptr, valid while the object and `facts` live; nullptr where there is no memory for it.
  const char* const* entries() const { return reinterpret_cast<const char* const*>(pages_.begin()); }

  // Whether it had the variable.
  bool remove(std::string_view name);

 private:
  void add(const char* entry);
  void add_present(const char* name);

  Pages pages_;
  std::size_t count_ = 0, text_used_ = 0;
};

}  // namespace gpumem
