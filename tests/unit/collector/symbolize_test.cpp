// `gpumem symbolize`, and what `gpumem run` looks up at its end.
#include <sstream>

#include "catch.hpp"
#include "journal_texts.hpp"
#include "known_address.hpp"
#include "program.hpp"
#include "stage.hpp"
#include "symbols/symbol_file.hpp"

using namespace gpumem;

namespace {

namespace fs = std::filesystem;

// A journal whose blocks were allocated in a library of its own, in one that is gone, and where the first has no
// function.
struct RecordedLibrary {
  ScratchFolder folder;
  KnownAddress known;
  fs::path library = folder.path() / "lib.so";
  fs::path journals = folder.path() / "journals";
  fs::path sidecar = journals / "gpumem-elsewhere-7-5-0.symbols.json";

  RecordedLibrary() {
    fs::copy_file(NAMED_CODE, library);
    known.file.path = library.string();
    fs::create_directory(journals);
    std::ostringstream text;
    const auto module = [&](int id, const std::string& path, const std::string& build_id) {
      text << R"({"t":"module","ns":1,"tid":7,"id":)" << id << R"(,"path":")" << path << R"(","build_id":")" << build_id
           << R"("})" << '\n';
    };
    text << process_line;
    module(1, library.string(), known.file.build_id);
    module(2, "/gone/other.so", "00112233");
    text << R"({"t":"stack","ns":2,"tid":7,"id":1,"f":["1:0x)" << std::hex << known.offset << R"("]})" << '\n'
         << R"({"t":"stack","ns":2,"tid":7,"id":2,"f":["2:0x10"]})" << '\n'
         << R"({"t":"stack","ns":2,"tid":7,"id":3,"f":["1:0x10"]})" << '\n';
    for (const int i : {1, 2, 3}) {
      std::string line = alloc_line(i, 1000 * i);
      line.replace(line.find(R"("s":0)"), 5, R"("s":)" + std::to_string(i));
      text << line;
    }
    folder.write("journals/gpumem-elsewhere-7-5-0.0.jsonl", text.str());
  }

  FinishedProgram symbolize(const std::string& options = "", const std::string& environment = "") const {
    return run_program(environment + " " GPUMEM " symbolize " + options + " " + journals.string());
  }
  std::string report() const {
    const auto outcome = run_program(GPUMEM " report --full-stacks " + journals.string());
    CHECK(outcome.status == 0);
    return outcome.out;
  }
  NamedFrames frames() const { return read_symbol_file(sidecar)[known.file].frames[known.offset]; }
};

const std::string broken = "LD_PRELOAD=" BROKEN_LIBDW " ASAN_OPTIONS=verify_asan_link_order=0 BROKEN_LIBDW=";

}  // namespace

TEST_CASE("symbolize says what has names, and why the rest has none") {
  const RecordedLibrary recorded;
  const auto outcome = recorded.symbolize();
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("1 of 3 addresses have names, 1 with file and line"));
  CHECK_THAT(outcome.out, ContainsSubstring("No names from /gone/other.so: the file is missing"));
  CHECK_THAT(outcome.out, ContainsSubstring("lib.so names no function at 1 address"));
  CHECK(outcome.err.empty());
  check_known_frames(recorded.frames());
}

TEST_CASE("a symbolized folder gives the same report where the libraries are not") {
  const RecordedLibrary recorded;
  recorded.symbolize();
  const auto here = recorded.report();
  CHECK_THAT(here, ContainsSubstring("outer::caller"));
  CHECK_THAT(here, ContainsSubstring("No names from /gone/other.so"));
  fs::remove(recorded.library);
  CHECK(recorded.report() == here);
}

TEST_CASE("names that cannot be found again stay, better ones replace them") {
  const RecordedLibrary recorded;
  const auto whole = recorded.folder.path() / "whole.so";
  fs::copy_file(recorded.library, whole);
  REQUIRE(run_program("strip --strip-debug " + recorded.library.string()).status == 0);
  recorded.symbolize();
  REQUIRE(recorded.frames().size() == 1);
  fs::copy_file(whole, recorded.library, fs::copy_options::overwrite_existing);
  recorded.symbolize();
  check_known_frames(recorded.frames());
  for (const char* later : {"strip --strip-debug ", "rm "}) {
    REQUIRE(run_program(later + recorded.library.string()).status == 0);
    CHECK_THAT(recorded.symbolize().out, ContainsSubstring("1 of 3 addresses have names"));
    check_known_frames(recorded.frames());
  }
}

TEST_CASE("what the limit leaves out is told, and is looked up by the report") {
  const RecordedLibrary recorded;
  CHECK_THAT(recorded.symbolize("--symbol-limit 0").out, ContainsSubstring("2 addresses were not looked up"));
  CHECK_THAT(recorded.report(), ContainsSubstring("outer::caller"));
  const auto hurried = run_program(GPUMEM " report --symbol-limit 0 " + recorded.journals.string());
  CHECK_THAT(hurried.out, ContainsSubstring("lib.so+0x"));
  CHECK_THAT(hurried.out, ContainsSubstring("not looked up, for the limit of 0 s"));
}

TEST_CASE("debug information that crashes or never answers ends the look-up alone") {
  const RecordedLibrary recorded;
  const auto crashed = recorded.symbolize("", broken + "crash");
  CHECK(crashed.status == 2);
  CHECK_THAT(crashed.err, ContainsSubstring("The look-up of names died in " + recorded.library.string()));
  const auto stuck = recorded.symbolize("--symbol-limit 0.1", broken + "stay");
  CHECK(stuck.status == 2);
  CHECK_THAT(stuck.err, ContainsSubstring("The look-up of names timed out in " + recorded.library.string()));
}

TEST_CASE("a terminal shows how far a long look-up is, and nothing of it in the end") {
  if (run_program("command -v script").status != 0) {
    test::skipped("the program script, which makes a terminal, is not installed");
    return;
  }
  const RecordedLibrary recorded;
  const std::string command = GPUMEM " symbolize " + recorded.journals.string();
  const auto seen = run_program(broken + "slow script -qec '" + command + "' /dev/null");
  const auto bar = seen.out.find(" of 3 names: ");
  REQUIRE(bar != std::string::npos);
  CHECK(seen.out.find("\r\033[K", bar) < seen.out.find("addresses have names"));
  CHECK(recorded.symbolize("", broken + "slow").err.empty());
}
