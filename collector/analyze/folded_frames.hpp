// Which frames of a stack are not the user's own code: CUDA's libraries, the language runtimes, the interpreter.
//
// The lists are data (folded_frames.cpp): to fold one more library, add a row.
#pragma once

#include <string_view>

namespace gpumem {

enum class FrameOwner {
  user,
  cuda,         // driver, runtime, and the bindings that only pass calls on
  language,     // libc, the C++ runtime, the loader
  interpreter,  // the Python interpreter and its foreign-function layer
};

// By the file that the code lies in; `role` is the module's role in the journal, or empty.
FrameOwner owner_of_module(std::string_view path, std::string_view role);

// By the name of the function as well. A module with a static runtime holds the user's code and CUDA's side by side.
FrameOwner owner_of_function(FrameOwner module_owner, std::string_view role, std::string_view function);

}  // namespace gpumem
