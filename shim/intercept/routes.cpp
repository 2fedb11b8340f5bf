#include "intercept/routes.hpp"

#include <array>
#include <atomic>
#include <iterator>

namespace gpumem {
namespace {

constexpr const char* names[] = {"linked", "dlsym", "resolver", "unrecognised"};
std::array<std::atomic<std::uint64_t>, std::size(all_routes)> counts;
static_assert(std::size(names) == std::size(all_routes));

std::atomic<std::uint64_t>& count_of(Route route) { return counts[static_cast<std::size_t>(route)]; }

}  // namespace

const char* route_name(Route route) { return names[static_cast<std::size_t>(route)]; }

void count_route(Route route) { count_of(route).fetch_add(1, std::memory_order_relaxed); }

std::uint64_t routes_seen(Route route) { return count_of(route).load(std::memory_order_relaxed); }

}  // namespace gpumem
