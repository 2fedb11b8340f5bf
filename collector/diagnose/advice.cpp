#include "diagnose/advice.hpp"

#include <algorithm>

#include "analyze/sizes.hpp"
#include "diagnose/frameworks.hpp"

namespace gpumem {
namespace {

// How CUDA_VISIBLE_DEVICES names the device for sure: a number only where CUDA counts as NVML does.
std::string visible_name(const Scene& scene, const Gpu& gpu) {
  const auto ordinal = scene.ordinal_of(gpu);
  if (ordinal && !scene.variable("CUDA_VISIBLE_DEVICES")) return std::to_string(*ordinal);
  if (scene.variable("CUDA_DEVICE_ORDER") == "PCI_BUS_ID") return std::to_string(gpu.index);
  return gpu.uuid.value_or(std::to_string(gpu.index));
}

// Nobody holds it alone, and it is whole.
bool is_open_to_all(const Gpu& gpu) {
  const std::string mode = gpu.compute_mode.value_or("default");
  const bool is_exclusive = mode == "exclusive_process" || mode == "exclusive_thread";
  return !gpu.mig_enabled && (mode == "default" || (is_exclusive && gpu.users_known && gpu.users.empty()));
}

// A scheduler's list is not to be overstepped.
bool may_choose_device(const Scene& scene) { return !scene.variable_at_exec("SLURM_JOB_ID"); }

const Gpu* emptiest_other(const Scene& scene, const Gpu& full, std::uint64_t wanted) {
  const Gpu* found = nullptr;
  if (!may_choose_device(scene)) return found;
  for (const auto& gpu : scene.machine()->gpus) {
    const bool is_usable = gpu.free && *gpu.free >= wanted && gpu.index != full.index && is_open_to_all(gpu);
    if (is_usable && (!found || *gpu.free > *found->free)) found = &gpu;
  }
  return found;
}

bool may_be_stopped(const Holder& holder) {
  constexpr std::int64_t last_of_the_system = 2;  // init, and the kernel's own
  return !holder.is_self && !holder.is_parent && !holder.is_graphics_only && !holder.is_mps &&
         holder.pid > last_of_the_system && holder.bytes;
}

// As few of the largest as give enough; none where all together do not.
std::vector<const Holder*> enough_to_stop(const Gpu& gpu, const std::vector<Holder>& holders, std::uint64_t wanted) {
  std::vector<const Holder*> chosen;
  std::uint64_t free = gpu.free.value_or(0);
  for (const auto& holder : holders) {
    if (free >= wanted) break;
    if (!may_be_stopped(holder)) continue;
    chosen.push_back(&holder);
    free += *holder.bytes;
  }
  constexpr std::size_t most = 4;
  if (free < wanted || chosen.size() > most) chosen.clear();
  return chosen;
}

}  // namespace

std::vector<std::string> advice_for_full_gpu(const Scene& scene, const Gpu& gpu, const std::vector<Holder>& holders,
                                             std::uint64_t wanted) {
  std::vector<std::string> advice;
  const auto stopped = enough_to_stop(gpu, holders, wanted);
  std::string sentence;
  for (const Holder* holder : stopped)
    sentence += (sentence.empty() ? "Stop " : " and ") + holder->who + ", which holds " + bytes_text(*holder->bytes);
  if (const Gpu* other = emptiest_other(scene, gpu, wanted)) {
    sentence += std::string(sentence.empty() ? "Set" : ", or set") +
                " CUDA_VISIBLE_DEVICES=" + visible_name(scene, *other) + ", which has " + bytes_text(*other->free) +
                " free";
  }
  if (!sentence.empty()) advice.push_back(sentence + ".");
  for (const Holder* holder : stopped) {
    if (!holder->journal) continue;
    for (auto& text : advice_for_holder(holder->journal->all_modules, holder->journal->process.env))
      advice.push_back(std::move(text));
  }
  if (!advice.empty()) return advice;
  std::uint64_t by_others = 0;
  for (const auto& holder : holders) by_others += holder.is_self ? 0 : holder.bytes.value_or(0);
  if (!holders.empty() && gpu.free.value_or(0) + by_others < wanted)
    return {"Even without the other processes it would not fit: look at what this process itself holds."};
  if (!may_choose_device(scene)) return {"Ask for a device with more free memory, or for one of your own."};
  return {holders.empty() ? "nvidia-smi on the host shows who holds the device's memory."
                          : "Let the processes that hold it use less, or wait for them."};
}

}  // namespace gpumem
