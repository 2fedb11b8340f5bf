// What was live when somebody, or the program itself, set a mark.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "analyze/live_table.hpp"
#include "model/marks_file.hpp"
#include "model/records.hpp"

namespace gpumem {

struct MarkedMoment {
  Mark mark;
  bool is_known = false;                            // whether the events around it are there
  std::map<DeviceOrdinal, std::int64_t> on_device;  // live device memory just then
};

class Marks {
 public:
  // Those that have come since the last time. A mark counts with what was live at the first event after it.
  void add(const std::vector<Mark>& all);

  // One that the program has set. The newest `most_told` are kept.
  void add_told(const MarkRecord& line, const LiveTable& live);

  // Before `live` takes a line of this time.
  void pass(std::uint64_t ns, const LiveTable& live) {
    if (next_ < moments_.size() && moments_[next_].mark.ns < ns) settle(ns, live);
  }
  // Of the time before this nothing is known.
  void skip_to(std::uint64_t ns);
  // All, by time; those that are left with what is live now: they settle again where more comes.
  std::vector<MarkedMoment> moments(const LiveTable& live) const;

 private:
  void settle(std::uint64_t ns, const LiveTable& live);

  static constexpr std::size_t most_told = 1000;

  std::vector<MarkedMoment> moments_;
  std::deque<MarkedMoment> told_;
  std::size_t next_ = 0;  // that has not settled
};

}  // namespace gpumem
