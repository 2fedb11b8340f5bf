// What the process itself is, or is allowed, stands in the way: a fork, a limit, a sanitizer.
#include <algorithm>

#include "analyze/sizes.hpp"
#include "diagnose/cause.hpp"

namespace gpumem {
namespace {

Finding forked_after_init(const Scene& scene) {
  const ProcessRecord& process = scene.process().process;
  const auto& origin = process.forked_from;
  if (!origin || !origin->initialized) return Finding::not_thought_of();
  Finding found;
  found.weight = Weight::proven;
  found.evidence = {scene.from_process(
      "process " + std::to_string(origin->pid) + " had started CUDA before it forked this one", "forked_from")};
  const Neighbour* parent = scene.neighbours().find_journal(origin->journal);
  if (origin->init) {
    Evidence evidence = scene.from_process("it had done so by " + origin->init->api, "forked_from.init");
    if (parent && parent->init && parent->init->stack == origin->init->stack) evidence.called_in = parent;
    found.evidence.push_back(std::move(evidence));
  }
  if (parent) {
    const auto children = scene.neighbours().children_of(*parent);
    if (children.size() > 1) {
      found.evidence.push_back(
          {"its journal's folder holds those of " + count_of(children.size(), "process") + " that were forked from it",
           std::nullopt, parent->journal.string()});
    }
  } else {
    found.evidence.push_back(
        {"the parent's journal (" + origin->journal + ") is not in this folder", std::nullopt, ""});
  }
  return found;
}

Finding forked_unseen(const Scene& scene) {
  const auto& origin = scene.process().process.forked_from;
  if (origin && origin->initialized) return Finding::not_thought_of();
  if (scene.process().first_init) return Finding::not_thought_of();
  return {};
}

Finding before_init(const Scene& scene) {
  const FailureRecord& failure = scene.failure();
  const auto& origin = scene.process().process.forked_from;
  if (scene.process().first_init || (origin && origin->initialized)) return Finding::not_thought_of();
  Finding found;
  // A runtime starts the driver by itself.
  if (!failure.api.starts_with("cu") || failure.api.starts_with("cuda") || failure.api == "cuInit") return found;
  found.weight = Weight::likely;
  found.evidence = {scene.from_failure("no cuInit of this process is in its journal before " + failure.api)};
  return found;
}

// About as much as the machine and its devices have memory: what the driver wants to be able to map.
std::uint64_t address_space_wanted(const Scene& scene) {
  constexpr std::uint64_t unless_known = 256ull << 30;
  std::uint64_t wanted = scene.machine() ? scene.machine()->host_total.value_or(0) : 0;
  for (const Gpu* gpu : scene.gpus()) wanted += gpu->total.value_or(0);
  return std::max(wanted, unless_known);
}

Finding address_space_limit(const Scene& scene) {
  const auto& state = scene.group().state;
  const auto limit = scene.address_space_limit();
  if (!limit) return Finding::ruled_out_by(scene.from_state("address space is not limited", "limits.as"));
  const std::uint64_t used = state ? state->virtual_bytes.value_or(0) : 0;
  const std::uint64_t left = *limit > used ? *limit - used : 0;
  const std::uint64_t wanted = address_space_wanted(scene);
  constexpr std::uint64_t surely_enough = 4;
  if (left / surely_enough > wanted) {
    return Finding::ruled_out_by(scene.from_state(
        "RLIMIT_AS leaves " + bytes_text(left) + ", far more than all memory of this machine", "limits.as"));
  }
  Finding found;
  found.weight = left > wanted ? Weight::possible : Weight::likely;
  found.evidence = {scene.from_state(
      "RLIMIT_AS is " + bytes_text(*limit) + ", and the driver reserves far more address space than it uses",
      "limits.as")};
  if (used > 0)
    found.evidence.push_back(scene.from_state("the process had " + bytes_text(used) + " mapped", "memory.virtual"));
  for (const Gpu* gpu : scene.gpus()) {
    if (gpu->free && gpu->total && *gpu->free > *gpu->total / 8)
      found.evidence.push_back(scene.from_gpu("the device is not short of memory: " + scene.name_of(*gpu) + " had " +
                                                  bytes_text(*gpu->free) + " free of " + bytes_text(*gpu->total),
                                              *gpu, "memory"));
  }
  return found;
}

// What is linked into the program shows by its shadow alone: an eighth of all addresses, mapped from the start.
std::optional<Evidence> sign_of_sanitizer(const Scene& scene, Weight& weight) {
  for (const char* name : {"/libasan.so", "libclang_rt.asan"}) {
    const ModuleRecord* module = scene.module_named(name);
    if (!module) continue;
    weight = Weight::likely;
    return scene.from_module("the AddressSanitizer runtime is loaded (" + module->path.value_or("") +
                                 "), whose protected shadow gap lies where the driver reserves addresses",
                             *module);
  }
  constexpr std::uint64_t least_shadow = 14ull << 40;
  const auto& state = scene.group().state;
  if (!state || state->virtual_bytes.value_or(0) < least_shadow) return std::nullopt;
  weight = Weight::possible;
  return scene.from_state("the process had " + bytes_text(*state->virtual_bytes) +
                              " mapped, as a program has that a sanitizer is linked into (-static-libasan)",
                          "memory.virtual");
}

Finding sanitizer(const Scene& scene) {
  Finding found;
  auto sign = sign_of_sanitizer(scene, found.weight);
  if (!sign) return Finding::not_thought_of();
  const auto options = scene.variable("ASAN_OPTIONS");
  if (options && options->find("protect_shadow_gap=0") != std::string::npos)
    return Finding::ruled_out_by(scene.from_variable("ASAN_OPTIONS has protect_shadow_gap=0", "ASAN_OPTIONS"));
  found.evidence = {*std::move(sign)};
  return found;
}

Finding descriptors_exhausted(const Scene& scene) {
  const auto& state = scene.group().state;
  if (!state || !state->descriptors || !state->limits.open_files) return Finding::not_thought_of();
  constexpr std::uint64_t needed = 16;  // a start opens the control file, one for each device, and those of UVM
  if (*state->descriptors + needed < *state->limits.open_files) return Finding::not_thought_of();
  Finding found;
  found.weight = Weight::likely;
  found.evidence = {scene.from_state(grouped(*state->descriptors) + " of " + grouped(*state->limits.open_files) +
                                         " descriptors were open (RLIMIT_NOFILE)",
                                     "descriptors")};
  return found;
}

const Cause causes[] = {
    {"forked",
     "the process was forked from one that had started CUDA",
     "CUDA does not survive fork: the parent had already started it.",
     "Start workers by spawn or exec (multiprocessing: set_start_method(\"spawn\")), or make the first CUDA call (a "
     "device count is one) only in the child.",
     "the parent's journal",
     {3, 999},
     forked_after_init,
     true},
    {"before_init",
     "a driver call came before cuInit",
     "A driver call came before cuInit.",
     "Call cuInit(0) first, once in each process.",
     "the calls before it in the journal",
     {3},
     before_init},
    {"forked_unseen",
     "the parent started CUDA before it forked this process, unseen by gpumem",
     "",
     "",
     "running the parent under gpumem too",
     {3},
     forked_unseen},
    {"address_space_limit",
     "a limit on address space leaves the driver no room",
     "The limit on address space leaves the driver no room; this says nothing about the GPU's memory.",
     "Run without \"ulimit -v\" (RLIMIT_AS unlimited).",
     "ulimit -v",
     {2, 304, 999},
     address_space_limit,
     true},
    {"sanitizer",
     "AddressSanitizer blocks the driver's address reservation",
     "AddressSanitizer blocks the driver's address reservation; this says nothing about the GPU's memory.",
     "Run with ASAN_OPTIONS=protect_shadow_gap=0.",
     "the same run without AddressSanitizer",
     {2, 304, 999},
     sanitizer,
     true},
    {"descriptors",
     "no file descriptors are left for the driver's files",
     "The process has run out of file descriptors, and the driver needs some to start.",
     "Raise \"ulimit -n\", or find what keeps files open.",
     "ulimit -n and ls /proc/PID/fd",
     {2, 3, 100, 304, 999},
     descriptors_exhausted,
     true},
};

}  // namespace

Causes causes_in_process() { return causes; }

}  // namespace gpumem
