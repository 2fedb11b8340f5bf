// A return address of named_code.cpp whose names are known.
#pragma once

#include <dlfcn.h>

#include "catch.hpp"
#include "symbols/elf_image.hpp"
#include "symbols/symbolizer.hpp"

namespace gpumem {

struct KnownAddress {
  CodeFile file;
  std::uint64_t offset = 0;  // return address of a call in outer::caller, inside an inlined function

  explicit KnownAddress(const std::string& path = NAMED_CODE) : file{path, ElfImage::open(path)->build_id()} {
    void* library = ::dlopen(path.c_str(), RTLD_NOW);
    REQUIRE(library);
    const auto function = reinterpret_cast<std::uintptr_t (*)()>(::dlsym(library, "named_code_return_address"));
    Dl_info info{};
    REQUIRE(::dladdr(reinterpret_cast<void*>(function), &info) != 0);
    offset = function() - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  }
};

// The two frames at a known address, with their lines, whatever file they are from.
inline void check_known_frames(const NamedFrames& frames) {
  REQUIRE(frames.size() == 2);
  CHECK_THAT(frames[0].function.value_or(""), ContainsSubstring("outer::inlined_helper"));
  CHECK(frames[0].line == 15);
  CHECK_THAT(frames[1].function.value_or(""), ContainsSubstring("outer::caller"));
  CHECK(frames[1].line == 21);
}

}  // namespace gpumem
