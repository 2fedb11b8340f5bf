// Memory that a start needs and does not get: the device's, or the host's.
#include <algorithm>

#include "analyze/sizes.hpp"
#include "diagnose/advice.hpp"
#include "diagnose/cause.hpp"
#include "diagnose/holders.hpp"

namespace gpumem {
namespace {

// A context takes 300 to 600 MiB on most cards, more where all code is loaded at once.
constexpr std::uint64_t never_enough = 200ull << 20;
constexpr std::uint64_t may_be_short = 600ull << 20;
constexpr std::uint64_t surely_enough = 2ull << 30;

const Gpu* fullest(const Scene& scene) {
  const Gpu* found = nullptr;
  for (const Gpu* gpu : scene.gpus()) {
    if (gpu->free && gpu->total && (!found || *gpu->free < *found->free)) found = gpu;
  }
  return found;
}

std::string free_text(const Scene& scene, const Gpu& gpu) {
  std::string text = scene.name_of(gpu) + " had " + bytes_text(*gpu.free) + " free of " + bytes_text(*gpu.total);
  constexpr std::uint64_t worth_telling = 1'000'000'000;
  if (scene.machine_age_ns() > worth_telling) {
    text += ", " + std::to_string(scene.machine_age_ns() / 1'000'000'000) + " s before the failure";
  }
  return text;
}

Evidence free_evidence(const Scene& scene, const Gpu& gpu) {
  return scene.from_gpu(free_text(scene, gpu), gpu, "memory");
}

// How surely so much free memory is too little for a context.
Weight shortage(std::uint64_t free) {
  if (free < never_enough) return Weight::proven;
  if (free < may_be_short) return Weight::likely;
  return free < surely_enough ? Weight::possible : Weight::ruled_out;
}

bool looks_like_context(const Holder& holder) {
  constexpr std::uint64_t least = 50ull << 20, most = 700ull << 20;
  return holder.bytes && *holder.bytes >= least && *holder.bytes <= most;
}

// Many processes, each with hardly more than its context.
Finding many_contexts(const Scene& scene) {
  const Gpu* gpu = fullest(scene);
  if (!gpu || shortage(*gpu->free) < Weight::likely) return Finding::not_thought_of();
  constexpr std::size_t many = 6;
  const auto holders = holders_of(scene, *gpu);
  std::uint64_t bytes = 0, allocated = 0, recorded = 0;
  std::size_t count = 0;
  for (const auto& holder : holders) {
    if (!looks_like_context(holder)) continue;
    ++count;
    bytes += *holder.bytes;
    if (!holder.journal || !gpu->uuid) continue;
    ++recorded;
    allocated += holder.journal->bytes_at(scene.wall_ns(), *gpu->uuid).value_or(0);
  }
  const std::uint64_t used = *gpu->total - *gpu->free;
  if (count < many || bytes < used / 2) return Finding::not_thought_of();
  Finding found;
  found.weight = *gpu->free < bytes / count ? Weight::proven : shortage(*gpu->free);
  found.evidence = {free_evidence(scene, *gpu)};
  found.evidence.push_back(scene.from_gpu(count_of(count, "process") + " hold about " + bytes_text(bytes / count) +
                                              " each, " + bytes_text(bytes) + " in all",
                                          *gpu, "processes"));
  if (recorded > 0) {
    found.evidence.push_back({"the journals of " + std::to_string(recorded) + " of them show " + bytes_text(allocated) +
                                  " of allocations: the rest is their contexts",
                              std::nullopt, "the journals in this folder"});
  }
  found.verdict = scene.name_of(*gpu) + " is full of contexts: " + count_of(count, "process") +
                  " hold one each, and one more does not fit.";
  return found;
}

Finding memory_held(const Scene& scene) {
  const Gpu* gpu = fullest(scene);
  if (!gpu) return {};
  Finding found;
  found.weight = shortage(*gpu->free);
  const bool are_all_short = std::all_of(scene.gpus().begin(), scene.gpus().end(), [](const Gpu* each) {
    return each->free && shortage(*each->free) >= Weight::likely;
  });
  if (!scene.is_certain_of_device() && !are_all_short) found.weight = std::min(found.weight, Weight::possible);
  if (found.weight == Weight::ruled_out) {
    found.against = {free_evidence(scene, *gpu)};
    return found;
  }
  found.evidence = {free_evidence(scene, *gpu)};
  const auto holders = holders_of(scene, *gpu);
  for (auto& told : tell_holders(scene, *gpu, holders)) found.evidence.push_back(std::move(told));
  if (const auto unlisted = unlisted_bytes(*gpu); unlisted > 0) {
    found.evidence.push_back(
        scene.from_gpu(bytes_text(unlisted) + " are used with no process listed for them", *gpu, "memory"));
    for (auto& suspect : unlisted_suspects(scene, *gpu)) found.evidence.push_back(std::move(suspect));
    for (auto& blind : blind_spots(scene, *gpu)) found.evidence.push_back(std::move(blind));
  }
  if (found.weight == Weight::possible) return found;
  found.verdict = scene.name_of(*gpu) + " is full: " + bytes_text(*gpu->free) + " free of " + bytes_text(*gpu->total) +
                  ", and a context alone takes 300 to 600 MiB.";
  found.advice = advice_for_full_gpu(scene, *gpu, holders, may_be_short);
  return found;
}

Finding host_memory_short(const Scene& scene) {
  if (!scene.machine()) return {};
  Finding found;
  for (const auto& group : scene.machine()->groups) {
    if (!group.limit || !group.used) continue;
    const auto kills = group.events.find("oom_kill"), hits = group.events.find("max");
    // Refused or killed once, and still half full: what was killed may have made room since.
    const bool has_hit = *group.used > *group.limit / 2 && ((kills != group.events.end() && kills->second > 0) ||
                                                            (hits != group.events.end() && hits->second > 0));
    if (!group.is_at_limit() && !has_hit) continue;
    std::string text = "the memory cgroup " + group.folder + " uses " + bytes_text(*group.used) + " of its limit of " +
                       bytes_text(*group.limit);
    for (const char* name : {"max", "oom", "oom_kill"}) {
      const auto event = group.events.find(name);
      if (event != group.events.end() && event->second > 0) text += ", " + event->first + " " + grouped(event->second);
    }
    found.weight = Weight::likely;
    found.evidence.push_back(scene.from_probe(std::move(text), "system.cgroup_memory.levels"));
  }
  constexpr std::uint64_t little = 256ull << 20;
  const auto available = scene.machine()->host_available;
  if (available && *available < little) {
    found.weight = Weight::likely;
    found.evidence.push_back(scene.from_probe("the machine had " + bytes_text(*available) + " of RAM available",
                                              "system.host_memory.available_bytes"));
  }
  const auto commit = scene.machine()->commit_limit, committed = scene.machine()->committed;
  if (scene.machine()->overcommit == 2 && commit && committed && *committed > *commit - *commit / 10) {
    found.weight = Weight::likely;
    found.evidence.push_back(scene.from_probe("vm.overcommit_memory is 2, and " + bytes_text(*committed) + " of " +
                                                  bytes_text(*commit) +
                                                  " are promised already: the driver's large reservations are refused",
                                              "system.host_memory"));
  }
  if (found.evidence.empty() && available) {
    found.weight = Weight::ruled_out;
    found.against.push_back(scene.from_probe(
        "the machine had " + bytes_text(*available) + " of RAM available, and no cgroup was at its limit",
        "system.host_memory.available_bytes"));
  }
  return found;
}

Finding instance_too_small(const Scene& scene) {
  const Gpu* gpu = scene.gpu();
  if (!gpu || !gpu->mig_enabled || gpu->instances.empty()) return Finding::not_thought_of();
  const auto chosen = scene.variable("CUDA_VISIBLE_DEVICES");
  Finding found;
  for (const auto& instance : gpu->instances) {
    if (!instance.free || !instance.total || shortage(*instance.free) < Weight::likely) continue;
    if (chosen && chosen->starts_with("MIG-") && !instance.uuid.starts_with(*chosen)) continue;
    found.weight = Weight::likely;
    found.evidence.push_back(scene.from_gpu("the MIG instance " + instance.uuid + " of " + scene.name_of(*gpu) +
                                                " had " + bytes_text(*instance.free) + " free of " +
                                                bytes_text(*instance.total),
                                            *gpu, "mig.instances"));
  }
  return found;
}

const Cause causes[] = {
    {"many_contexts",
     "the contexts of many processes fill the device",
     "The contexts of many processes fill the device.",
     "Start fewer processes for each GPU, or let them share one context through MPS.",
     "the number of processes in nvidia-smi",
     {2},
     many_contexts,
     true},
    {"memory_held",
     "other processes hold the device's memory",
     "Other processes hold the device's memory.",
     "",
     "nvidia-smi at the time of the failure: used memory and its processes",
     {2},
     memory_held},
    {"mig_instance_full",
     "the MIG instance is full",
     "The MIG instance that the process may use is full.",
     "Use another instance, or a larger one.",
     "nvidia-smi: memory of the MIG devices",
     {2},
     instance_too_small,
     true},
    {"host_memory",
     "host memory or a container's memory limit is exhausted",
     "Host memory is short, not the GPU's: starting CUDA needs several hundred MiB of it.",
     "Raise the container's memory limit, or start fewer processes in it.",
     "the cgroup's memory.events and the kernel log",
     {2, 304, 999},
     host_memory_short},
};

}  // namespace

Causes causes_in_memory() { return causes; }

}  // namespace gpumem
