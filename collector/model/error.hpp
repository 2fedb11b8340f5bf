// The one exception that means "gpumem cannot answer".
//
// Raised where the trouble is known best; its text is one sentence for the user, naming the file (and line) and what
// to do. Caught and printed once, in main, which then ends with status 2.
#pragma once

#include <stdexcept>

namespace gpumem {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpumem
