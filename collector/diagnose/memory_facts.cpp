#include "diagnose/memory_facts.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "analyze/sizes.hpp"

namespace gpumem {
namespace {

constexpr std::uint64_t large = 1ull << 30;   // worth a look at who else holds it
constexpr std::uint64_t small = 64ull << 20;  // not worth telling

}  // namespace

MemoryFacts::MemoryFacts(const Scene& scene) : scene_(scene) {
  if (const auto& driver = scene.group().driver) {
    const auto used = static_cast<std::int64_t>(*driver->total) - static_cast<std::int64_t>(*driver->free);
    rest_ = static_cast<std::uint64_t>(std::max<std::int64_t>(0, used - scene.group().ledger));
  }
  const Gpu* gpu = scene.gpu();
  if (!gpu) return;
  for (auto& holder : holders_of(scene, *gpu)) {
    if (holder.is_self) {
      self_ = std::move(holder);
    } else {
      others_.push_back(std::move(holder));
    }
  }
}

std::optional<std::uint64_t> MemoryFacts::free() const {
  if (scene_.group().driver) return scene_.group().driver->free;
  const Gpu* gpu = scene_.gpu();
  return gpu && scene_.machine_age_ns() == 0 ? gpu->free : std::nullopt;
}

std::uint64_t MemoryFacts::total() const {
  if (scene_.group().driver) return *scene_.group().driver->total;
  if (scene_.group().device_total) return *scene_.group().device_total;
  return scene_.gpu() ? scene_.gpu()->total.value_or(0) : 0;
}

std::uint64_t MemoryFacts::parked() const {
  const auto& driver = scene_.group().driver;
  if (!driver || scene_.failure().kind == "async") return 0;
  const auto& pool = driver->pool_held;
  return pool.reserved && pool.used && *pool.reserved > *pool.used ? *pool.reserved - *pool.used : 0;
}

std::vector<Evidence> MemoryFacts::tell() const {
  std::vector<Evidence> told;
  if (const auto& driver = scene_.group().driver) {
    const bool is_before = driver->ns < scene_.failure().ns;  // another thread's failure, at the same moment
    told.push_back(scene_.from_driver("the driver reported " + bytes_text(*driver->free) + " free of " +
                                      bytes_text(*driver->total) + (is_before ? " just before" : " just after")));
  }
  if (!others_.empty()) {
    for (auto& each : tell_holders(scene_, *scene_.gpu(), others_)) told.push_back(std::move(each));
  }
  tell_own_overhead(told);
  tell_unnamed_rest(told);
  if (parked() > 0) {
    told.push_back(scene_.from_driver(
        bytes_text(parked()) + " are parked in the device's stream-ordered pool, which cudaMemPoolTrimTo gives back"));
  }
  tell_dominant_block(told);
  return told;
}

void MemoryFacts::tell_own_overhead(std::vector<Evidence>& told) const {
  const std::int64_t ledger = scene_.group().ledger;
  if (!self_ || !self_->bytes || ledger < 0 || *self_->bytes <= static_cast<std::uint64_t>(ledger)) return;
  told.push_back(scene_.from_probe("this process takes " + bytes_text(*self_->bytes) + " of the device, " +
                                       bytes_text(*self_->bytes - static_cast<std::uint64_t>(ledger)) +
                                       " of it for contexts and code",
                                   "nvml.devices"));
}

void MemoryFacts::tell_unnamed_rest(std::vector<Evidence>& told) const {
  if (rest_ == 0) return;
  const std::uint64_t named =
      std::accumulate(others_.begin(), others_.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Holder& holder) { return sum + holder.bytes.value_or(0); });
  if (!others_.empty() && named + small >= rest_) return;
  const std::uint64_t left = rest_ - std::min(named, rest_);
  const Gpu* gpu = scene_.gpu();
  const bool lists_nobody = gpu && gpu->users_known && others_.empty();
  told.push_back(scene_.from_driver(
      bytes_text(left) + (lists_nobody ? " are held by contexts, loaded code and the driver; no other process is listed"
                                       : " are held by something else: other processes, contexts, loaded code")));
  if (!gpu || left <= large) return;
  for (auto& suspect : unlisted_suspects(scene_, *gpu)) told.push_back(std::move(suspect));
  for (auto& blind : blind_spots(scene_, *gpu)) told.push_back(std::move(blind));
}

void MemoryFacts::tell_dominant_block(std::vector<Evidence>& told) const {
  for (const auto& site : scene_.group().held) {
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, site.amount.bytes));
    if (total() == 0 || site.amount.blocks != 1 || bytes <= total() / 2) continue;
    told.push_back(scene_.from_failure(std::to_string(100 * bytes / total()) + " % of the device is one block of " +
                                       bytes_text(bytes) +
                                       " of this process (below): an allocator's, whose unused part the driver cannot "
                                       "know"));
  }
}

}  // namespace gpumem
