// Names that were looked up before.
#include "symbols/symbol_cache.hpp"

#include <sys/stat.h>

#include "catch.hpp"
#include "journal_texts.hpp"
#include "known_address.hpp"
#include "program.hpp"

using namespace gpumem;

namespace {

namespace fs = std::filesystem;

struct CachedCode {
  ScratchFolder folder;
  KnownAddress known;
  std::string cache = (folder.path() / "cache" / "symbols").string();
  fs::path file = fs::path(cache) / (known.file.build_id + ".json");

  SymbolSources sources() const {
    SymbolSources sources;
    sources.cache_folder = cache;
    return sources;
  }
  void fill() const {
    Symbolizer symbols(sources());
    symbols.resolve(known.file, known.offset);
    symbols.keep();
  }
  // As if the library had gone.
  NamedFrames frames_without_file() const {
    Symbolizer symbols(sources());
    return symbols.resolve({"/gone/lib.so", known.file.build_id}, known.offset);
  }
};

}  // namespace

TEST_CASE("names from debug information are kept for later runs, readable by their user alone") {
  const CachedCode code;
  CHECK(code.frames_without_file().empty());
  code.fill();
  check_known_frames(code.frames_without_file());
  struct stat status {};
  REQUIRE(::stat(code.cache.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("names from symbol tables alone are not kept, for they may get better") {
  const CachedCode code;
  const auto bare = code.folder.path() / "bare.so";
  REQUIRE(run_program("objcopy --strip-debug " NAMED_CODE " " + bare.string()).status == 0);
  Symbolizer symbols(code.sources());
  CHECK(symbols.resolve({bare.string(), code.known.file.build_id}, code.known.offset).size() == 1);
  symbols.keep();
  CHECK_FALSE(fs::exists(code.file));
}

TEST_CASE("a damaged file of the cache is as good as none, and is replaced") {
  const CachedCode code;
  code.fill();
  const std::string whole = read_text(code.file);
  for (const std::string& bytes : {std::string(), whole.substr(0, whole.size() / 2), std::string(100, '\0')}) {
    std::ofstream(code.file, std::ios::binary | std::ios::trunc) << bytes;
    CHECK(code.frames_without_file().empty());
    code.fill();
    check_known_frames(code.frames_without_file());
  }
}

TEST_CASE("a second run adds to what the cache knows of a file") {
  const CachedCode code;
  code.fill();
  add_to_symbol_cache(code.cache, code.known.file.build_id, {{7, {{"other", "x.c", 1}}}});
  check_known_frames(code.frames_without_file());
  CHECK(read_symbol_cache(code.cache, code.known.file.build_id).count(7) == 1);
}

TEST_CASE("a cache that cannot be written costs no names") {
  const CachedCode code;
  std::ofstream(code.folder.path() / "cache") << "a file where the folder should be";
  code.fill();
  CHECK(code.frames_without_file().empty());
}

TEST_CASE("the cache stays below its size: what was not used for longest goes") {
  const CachedCode code;
  code.fill();
  const auto add_other = [&code](const std::string& name, std::chrono::hours age) {
    const auto path = fs::path(code.cache) / name;
    std::ofstream(path) << "x";
    fs::resize_file(path, 200u << 20);
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
    return path;
  };
  const auto older = add_other("aa.json", std::chrono::hours(2));
  const auto newer = add_other("bb.json", std::chrono::hours(1));
  add_to_symbol_cache(code.cache, code.known.file.build_id, {{7, {{"other", "x.c", 1}}}});
  CHECK_FALSE(fs::exists(older));
  CHECK(fs::exists(newer));
  check_known_frames(code.frames_without_file());
}

TEST_CASE("a build-id that is no name of a file is not looked for in the cache") {
  const CachedCode code;
  add_to_symbol_cache(code.cache, "../outside", {{7, {{"other", "x.c", 1}}}});
  CHECK_FALSE(fs::exists(code.folder.path() / "cache"));
}
