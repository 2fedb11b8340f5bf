// A program made of ways to do things, of which its arguments choose.
#pragma once

#include <cstring>

struct Way {
  const char* name;
  void (*run)();
};

template <std::size_t count>
void run_ways(const Way (&ways)[count], char** first, char** last) {
  for (; first < last; ++first)
    for (const Way& way : ways)
      if (std::strcmp(way.name, *first) == 0) way.run();
}
