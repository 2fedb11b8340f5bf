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

const Gpu* emptiest_other(const Scene& scene, const Gpu& full, std::uint64_t wanted) {
  const Gpu* found = nullptr;
  for (const auto& gpu : scene.machine()->gpus) {
    const bool is_usable = gpu.free && *gpu.free >= wanted && gpu.index != full.index &&
                           gpu.compute_mode.value_or("default") != "prohibited";
    if (is_usable && (!found || *gpu.free > *found->free)) found = &gpu;
  }
  return found;
}

std::string stop_text(const Holder& holder) {
  return "Stop " + holder.who + (holder.bytes ? ", which holds " + bytes_text(*holder.bytes) : "");
}

}  // namespace

std::vector<std::string> advice_for_full_gpu(const Scene& scene, const Gpu& gpu, const std::vector<Holder>& holders,
                                             std::uint64_t wanted) {
  std::vector<std::string> advice;
  const auto other_holder = std::find_if(holders.begin(), holders.end(),
                                         [](const Holder& holder) { return !holder.is_self && !holder.is_parent; });
  const bool is_worth_it = other_holder != holders.end() && other_holder->bytes.value_or(wanted) >= wanted / 2;
  std::string sentence = is_worth_it ? stop_text(*other_holder) : "";
  if (const Gpu* other = emptiest_other(scene, gpu, wanted)) {
    sentence += std::string(sentence.empty() ? "Set" : ", or set") +
                " CUDA_VISIBLE_DEVICES=" + visible_name(scene, *other) + ", which has " + bytes_text(*other->free) +
                " free";
  }
  if (!sentence.empty()) advice.push_back(sentence + ".");
  if (is_worth_it && other_holder->journal) {
    for (auto& text : advice_for_holder(other_holder->journal->all_modules, other_holder->journal->process.env))
      advice.push_back(std::move(text));
  }
  if (advice.empty()) advice.push_back("nvidia-smi on the host shows who holds the device's memory.");
  return advice;
}

}  // namespace gpumem
