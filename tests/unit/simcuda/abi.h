// SPDX-License-Identifier: Apache-2.0
// Whether two function types are called alike: as many parameters, each of the same size and of the same kind.
#pragma once

#include <type_traits>

namespace simcuda::test {

template <class Ours, class Theirs>
inline constexpr bool same_value =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>&& std::is_floating_point_v<Ours> ==
                                          std::is_floating_point_v<Theirs>;

template <class Ours, class Theirs>
inline constexpr bool same_abi = false;

template <class OurResult, class... Ours, class TheirResult, class... Theirs>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) inline constexpr bool same_abi<OurResult(Ours...), TheirResult(Theirs...)> =
    same_value<OurResult, TheirResult> && (same_value<Ours, Theirs> && ...);

}  // namespace simcuda::test
