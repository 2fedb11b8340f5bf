// A running value that remembers what it was at the moment of a peak, without a copy at every peak.
//
// The owner of the peak numbers its peaks ("epochs"). A value that does not change after a peak needs no note of it;
// one that does change notes its old value first, once per epoch. Cost: one comparison a change.
#pragma once

#include <cstdint>

namespace gpumem {

template <class Value>
class ValueAtPeak {
 public:
  // `epoch` is the number of the latest peak, which happened before this change.
  void add(const Value& delta, std::uint64_t epoch) {
    if (noted_epoch_ != epoch) {
      noted_ = now_;
      noted_epoch_ = epoch;
    }
    now_ += delta;
  }
  const Value& now() const { return now_; }
  const Value& at_peak(std::uint64_t epoch) const { return noted_epoch_ == epoch ? noted_ : now_; }

 private:
  Value now_{};
  Value noted_{};
  std::uint64_t noted_epoch_ = 0;
};

}  // namespace gpumem
