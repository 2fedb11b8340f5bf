#include "commands/progress.hpp"

#include "commands/output.hpp"
#include "model/error.hpp"
#include "render/text_page.hpp"

namespace gpumem {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto quiet_at_first = std::chrono::milliseconds(500);
constexpr auto between_two = std::chrono::milliseconds(100);
constexpr std::size_t bar_width = 20;
constexpr const char* wipe = "\r\033[K";

}  // namespace

Progress::Progress(int descriptor, std::size_t steps)
    : descriptor_(descriptor), steps_(steps), next_(Clock::now() + quiet_at_first) {}

Progress::~Progress() {
  try {
    if (is_shown_) write_out(descriptor_, wipe);
  } catch (const Error&) {
    // The terminal has gone.
  }
}

void Progress::step(const std::string& what) {
  const std::size_t done = step_++;
  if (descriptor_ < 0 || Clock::now() < next_) return;
  const std::size_t filled = done * bar_width / steps_;
  const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '.');
  const std::string head = "[" + bar + "] " + std::to_string(done) + " of " + std::to_string(steps_) + " names: ";
  const std::size_t room = style_of(descriptor_).width;
  write_out(descriptor_, wipe + head + what.substr(0, room > head.size() ? room - head.size() - 1 : 0));
  is_shown_ = true;
  next_ = Clock::now() + between_two;
}

}  // namespace gpumem
