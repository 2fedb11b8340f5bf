// Where journals go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "journal/journal.hpp"

namespace gpumem {

struct JournalName {
  std::string_view host;
  int pid = 0;
  std::uint64_t start_ticks = 0;
  unsigned n = 0;  // set by create_journal
};

// Creates the journal in the first folder that takes it: `given` (if not empty), ./gpumem,
// ${TMPDIR:-/tmp}/gpumem-<uid>. Makes the last component of the folder. False: errno says why the last one refused.
bool create_journal(Journal& journal, JournalName& name, std::string_view given, std::size_t largest,
                    SegmentFile::Writing writing = SegmentFile::Writing::mapped);

}  // namespace gpumem
