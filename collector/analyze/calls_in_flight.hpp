// The calls that were entered and have not returned, by the lines of a journal in their order.
#pragma once

#include <map>
#include <type_traits>
#include <vector>

#include "model/records.hpp"
#include "schema.hpp"

namespace gpumem {

class CallsInFlight {
 public:
  // Whatever else a thread writes, its call is over by then. Where lines are missing, nothing is known of any.
  template <class Line>
  void take(const Line& line) {
    if constexpr (std::is_same_v<Line, GapRecord>) {
      entered_.clear();
      return;
    }
    entered_.erase(line.tid);
    if constexpr (std::is_same_v<Line, EventRecord>) {
      if (line.op == schema::op::begin) entered_.emplace(line.tid, line);
    }
  }

  std::vector<EventRecord> all() const {
    std::vector<EventRecord> all;
    for (const auto& [_, begin] : entered_) all.push_back(begin);
    return all;
  }

 private:
  std::map<std::int64_t, EventRecord> entered_;  // by thread
};

}  // namespace gpumem
