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

// A journal without a single whole line: its process was killed before it wrote the first one. Nothing is wrong with
// it, so it does not stand in the way of other journals.
struct NothingRecorded : Error {
  using Error::Error;
};

}  // namespace gpumem
