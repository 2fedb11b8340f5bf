// Rules are derived for nearly all code, remembered within bounds, and from damaged data without harm.
#include <link.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "base/arena.hpp"
#include "catch.hpp"
#include "stack/native/rule_cache.hpp"
#include "stack_paths_library.hpp"

using namespace gpumem;
using namespace gpumem::test;

namespace {

const ElfW(Phdr) * header_of(const LoadedObject& object) {
  const auto* part = static_cast<const ElfW(Phdr)*>(object.program_headers);
  for (std::size_t i = 0; i < object.program_header_count; ++i)
    if (part[i].p_type == PT_GNU_EH_FRAME) return part + i;
  return nullptr;
}

struct Coverage {
  unsigned long by[5] = {};
  unsigned long places = 0, functions = 0, without_caller = 0;
  unsigned long of(UnwindRule::FrameEnd end) const { return by[static_cast<unsigned>(end)]; }
};

// At the first place of each described function, and at some random ones up to the next.
Coverage coverage_of(const LoadedObject& object, unsigned places) {
  Coverage coverage;
  const std::uintptr_t header = object.base + header_of(object)->p_vaddr;
  const auto* words = reinterpret_cast<const std::int32_t*>(header);
  const auto count = static_cast<std::uint32_t>(words[2]);
  std::mt19937 random(11);
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const auto length = static_cast<std::uint32_t>(words[3 + 2 * (i + 1)] - words[3 + 2 * i]);
    const std::uintptr_t function = header + static_cast<std::uintptr_t>(std::intptr_t{words[3 + 2 * i]});
    if (length == 0) continue;
    if (derive_rule(object, function).end == UnwindRule::FrameEnd::outermost) ++coverage.without_caller;
    ++coverage.functions;
    for (unsigned place = 0; place < places; ++place, ++coverage.places)
      ++coverage.by[static_cast<unsigned>(derive_rule(object, function + random() % length).end)];
  }
  return coverage;
}

LoadedObject object_named(const std::string& part) {
  LoadedObject found;
  any_object([&](const LoadedObject& object) {
    if (std::string(object.path).find(part) == std::string::npos || header_of(object) == nullptr) return false;
    found = object;
    return true;
  });
  return found;
}

}  // namespace

TEST_CASE("more than 99 % of real libraries' code has a rule") {
  namespace fs = std::filesystem;
  std::vector<std::string> wanted{"libc.so.6",       "libstdc++.so.6",  "libpython3.11.so.1.0",
                                  "libLLVM-15.so.1", "libLLVM-14.so.1", "libcrypto.so.3"};
  for (const char* folder : {BUILD_FOLDER "/toolkit", BUILD_FOLDER "/genuine"}) {
    if (!fs::exists(folder)) continue;
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
      const std::string name = file.path().filename();
      if (name.rfind("libcudart.so.", 0) == 0 || name.rfind("libcublas", 0) == 0 || name.rfind("libcufft", 0) == 0)
        wanted.push_back(file.path());
    }
  }
  unsigned looked_at = 0;
  for (const std::string& name : wanted) {
    void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    const LoadedObject object = object_named(name);
    if (object.hi != 0) {
      const Coverage coverage = coverage_of(object, 3);
      ++looked_at;
      CAPTURE(name, coverage.places, coverage.of(UnwindRule::FrameEnd::unsupported), coverage.without_caller);
      CHECK(coverage.functions > 100);
      CHECK(coverage.of(UnwindRule::FrameEnd::unsupported) * 100 < coverage.places);
      CHECK(coverage.without_caller * 100 < coverage.functions);
    }
    dlclose(handle);
  }
  CHECK(looked_at >= 2);
}

TEST_CASE("all kinds of frames are among the stacks that the tests walk") {
  const PathLibrary library(0);
  const Coverage coverage = coverage_of(object_named("stack_paths_0.so"), 50);
  CHECK(coverage.of(UnwindRule::FrameEnd::from_rsp) > 0);
  CHECK(coverage.of(UnwindRule::FrameEnd::from_rbp) > 0);
  CHECK(coverage.of(UnwindRule::FrameEnd::loaded_from_rbp) > 0);
}

TEST_CASE("damaged call frame information is read within its segment, and to an end") {
  const PathLibrary library(0);
  const LoadedObject object = object_named("stack_paths_0.so");
  const auto* whole = static_cast<const ElfW(Phdr)*>(object.program_headers);
  const ElfW(Phdr)* header = header_of(object);
  const ElfW(Phdr)* segment = nullptr;
  for (std::size_t i = 0; i < object.program_header_count; ++i)
    if (whole[i].p_type == PT_LOAD && header->p_vaddr >= whole[i].p_vaddr &&
        header->p_vaddr < whole[i].p_vaddr + whole[i].p_filesz)
      segment = whole + i;
  REQUIRE(segment != nullptr);
  // A copy of the segment whose last byte is the last before a page that cannot be read.
  const std::size_t size = segment->p_filesz, pages = (size + 4095) / 4096 * 4096;
  auto* area = static_cast<unsigned char*>(mmap(nullptr, pages + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mprotect(area + 4096, pages, PROT_READ | PROT_WRITE) == 0);
  unsigned char* copy = area + 4096 + pages - size;
  const auto* original = reinterpret_cast<const unsigned char*>(object.base + segment->p_vaddr);
  ElfW(Phdr) parts[] = {*segment, *header};
  LoadedObject damaged = object;
  damaged.base = reinterpret_cast<std::uintptr_t>(copy) - segment->p_vaddr;
  damaged.program_headers = parts;
  damaged.program_header_count = 2;
  const std::size_t tables = header->p_vaddr - segment->p_vaddr;
  std::mt19937 random(5);
  std::memcpy(copy, original, size);
  const std::uintptr_t code = reinterpret_cast<std::uintptr_t>(library.function(3)) - object.base + damaged.base;
  const UnwindRule sound = derive_rule(damaged, code);
  CHECK(sound == derive_rule(object, code - damaged.base + object.base));
  CHECK(sound.end != UnwindRule::FrameEnd::unsupported);
  unsigned changed = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::memcpy(copy, original, size);
    for (unsigned times = 1 + random() % 8; times > 0; --times)
      copy[tables + random() % (size - tables)] = static_cast<unsigned char>(random());
    const std::uintptr_t place = code + random() % 1024;
    if (!(derive_rule(damaged, place) == derive_rule(object, place - damaged.base + object.base))) ++changed;
  }
  CHECK(changed > 100);
  munmap(area, pages + 8192);
}

TEST_CASE("a full rule table still answers, and is empty again when libraries went") {
  Arena::set_budget(64 << 20);
  const PathLibrary library(0);
  const LoadedObject object = object_named("stack_paths_0.so");
  const auto begin = reinterpret_cast<std::uintptr_t>(library.function(0));
  auto cache = std::make_unique<RuleCache>(RuleCache::first_capacity);
  for (int round = 0; round < 2; ++round)
    for (std::uintptr_t place = 0; place < 3 * RuleCache::first_capacity; ++place)
      REQUIRE(cache->rule_for(begin + place + 1) == derive_rule(object, begin + place));
  CHECK(cache->count() == RuleCache::first_capacity / 2);
  cache->use_generation(1);
  CHECK(cache->count() == 0);
  CHECK(cache->rule_for(begin + 1) == derive_rule(object, begin));
  cache->use_generation(0);  // a late thread's view
  CHECK(cache->count() == 1);
}

TEST_CASE("without memory for a rule table each rule is worked out") {
  Arena::set_budget(0);
  const PathLibrary library(0);
  const auto begin = reinterpret_cast<std::uintptr_t>(library.function(0));
  auto cache = std::make_unique<RuleCache>();
  CHECK(cache->rule_for(begin + 1) == derive_rule(object_named("stack_paths_0.so"), begin));
  CHECK(cache->count() == 0);
  Arena::set_budget(64 << 20);
}
