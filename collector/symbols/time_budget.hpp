// Bounds the time that looking up names may take in all. Only the time inside `Spending` counts.
#pragma once

#include <chrono>

namespace gpumem {

class TimeBudget {
 public:
  explicit TimeBudget(std::chrono::milliseconds limit) : limit_(limit) {}

  class Spending {
   public:
    explicit Spending(TimeBudget& budget) : budget_(budget) { budget_.begin_ = Clock::now(); }
    ~Spending() { budget_.spent_ += Clock::now() - budget_.begin_; }
    Spending(const Spending&) = delete;
    Spending& operator=(const Spending&) = delete;

   private:
    TimeBudget& budget_;
  };

  // Inside Spending; stays true.
  bool is_used_up() {
    used_up_ = used_up_ || spent_ + (Clock::now() - begin_) >= limit_;
    return used_up_;
  }
  std::chrono::milliseconds limit() const { return limit_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds limit_;
  Clock::time_point begin_;
  Clock::duration spent_{0};
  bool used_up_ = false;
};

}  // namespace gpumem
