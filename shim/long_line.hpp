// A line that is put together in the session's memory: a thread's stack may have no room for it.
//
// Holds that memory's lock as long as it lives, so a thread has one at a time.
#pragma once

#include "base/spin_lock.hpp"
#include "journal/line.hpp"
#include "session.hpp"

namespace gpumem {

class LongLine : LockGuard, public Line {
 public:
  explicit LongLine(Session& session)
      : LockGuard(session.long_line_lock), Line(session.long_line, sizeof session.long_line) {}
};

}  // namespace gpumem
