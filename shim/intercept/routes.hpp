// How the program came by the functions that it calls, counted. Thread-safe.
#pragma once

#include <cstdint>

namespace gpumem {

enum class Route : std::uint8_t {
  linked,        // bound by the dynamic linker, once for each calling file and function
  dlsym,         // a look-up answered with a wrapper
  resolver,      // the same for cuGetProcAddress and its like
  unrecognised,  // a look-up of a function that we wrap, whose answer we did not know
};

inline constexpr Route all_routes[] = {Route::linked, Route::dlsym, Route::resolver, Route::unrecognised};

const char* route_name(Route route);  // in the journal

void count_route(Route route);
std::uint64_t routes_seen(Route route);

}  // namespace gpumem
