// What to do about a full device, with the machine's own figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/holders.hpp"
#include "diagnose/scene.hpp"

namespace gpumem {

// Sentences. `wanted`: bytes that must be free for the call to succeed.
std::vector<std::string> advice_for_full_gpu(const Scene& scene, const Gpu& gpu, const std::vector<Holder>& holders,
                                             std::uint64_t wanted);

}  // namespace gpumem
