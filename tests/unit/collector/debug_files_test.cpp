// Debug information that does not lie in the file itself.
#include "catch.hpp"
#include "journal_texts.hpp"
#include "known_address.hpp"
#include "program.hpp"
#include "stage.hpp"

using namespace gpumem;

namespace {

namespace fs = std::filesystem;

void shell(const std::string& command) {
  const auto outcome = run_program(command);
  INFO(command << "\n" << outcome.err);
  REQUIRE(outcome.status == 0);
}

// named_code without its debug information, which becomes a file of its own.
struct StrippedCode {
  ScratchFolder folder;
  KnownAddress known;
  fs::path debug = folder.path() / "code.debug";

  explicit StrippedCode(const std::string& options = "") {
    known.file.path = (folder.path() / "code.so").string();
    shell("objcopy --only-keep-debug " NAMED_CODE " " + debug.string());
    shell("objcopy --strip-all " + options + " " NAMED_CODE " " + known.file.path);
  }
  void link() const { shell("cd " + folder.path().string() + " && objcopy --add-gnu-debuglink=code.debug code.so"); }
  NamedFrames frames() const {
    Symbolizer symbols({(folder.path() / "debug").string()});
    return symbols.resolve(known.file, known.offset);
  }
  bool has_lines() const {
    const auto found = frames();  // a stripped library still names what it exports
    return !found.empty() && found.front().file;
  }
  // Of a tree in which files are known by their build-ids.
  static fs::path place(const fs::path& tree, const std::string& build_id) {
    fs::create_directories(tree / ".build-id" / build_id.substr(0, 2));
    return tree / ".build-id" / build_id.substr(0, 2) / (build_id.substr(2) + ".debug");
  }
};

struct Variable {
  const char* name;
  Variable(const char* variable, const std::string& value) : name(variable) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name); }
};

}  // namespace

TEST_CASE("debug information is found beside the stripped file that names it") {
  const StrippedCode code;
  CHECK_FALSE(code.has_lines());
  code.link();
  check_known_frames(code.frames());
  fs::create_directories(code.folder.path() / ".debug");
  fs::rename(code.debug, code.folder.path() / ".debug" / "code.debug");
  check_known_frames(code.frames());
  const auto below = fs::path(code.folder.path().string() + "/debug" + code.folder.path().string());
  fs::create_directories(below);
  fs::rename(code.folder.path() / ".debug" / "code.debug", below / "code.debug");
  check_known_frames(code.frames());
}

TEST_CASE("a file without build-id believes a linked debug file by its checksum") {
  StrippedCode code("--remove-section=.note.gnu.build-id");
  code.known.file.build_id.clear();
  code.link();
  check_known_frames(code.frames());
  std::ofstream(code.debug, std::ios::app) << "x";
  CHECK_FALSE(code.has_lines());
}

TEST_CASE("a linked debug file of another build is not believed") {
  const StrippedCode code;
  code.link();
  fs::copy_file(GPUMEM, code.debug, fs::copy_options::overwrite_existing);
  CHECK_FALSE(code.has_lines());
}

TEST_CASE("what dwz moved into a common file is found by build-id") {
  if (run_program("command -v dwz").status != 0) {
    test::skipped("dwz is not installed");
    return;
  }
  StrippedCode code;
  fs::copy_file(NAMED_CODE, code.folder.path() / "code.so", fs::copy_options::overwrite_existing);
  shell("cd " + code.folder.path().string() +
        " && cp code.so other.so && dwz -m common -M /nowhere/common code.so other.so");
  const auto common = code.folder.path() / "common";
  const auto place = StrippedCode::place(code.folder.path() / "debug", ElfImage::open(common.string())->build_id());
  fs::rename(common, place);
  check_known_frames(code.frames());
}

TEST_CASE("split debug information is found in its own files") {
  const KnownAddress known(SPLIT_CODE);
  Symbolizer symbols;
  check_known_frames(symbols.resolve(known.file, known.offset));
}

TEST_CASE("a debuginfod server is asked where one is configured") {
  if (!::dlopen("libdebuginfod.so.1", RTLD_NOW)) {
    test::skipped("libdebuginfod is not installed");
    return;
  }
  const StrippedCode code;
  const auto served = code.folder.path() / "served" / "buildid" / code.known.file.build_id;
  fs::create_directories(served);
  fs::copy_file(code.debug, served / "debuginfo");
  const Variable cache("DEBUGINFOD_CACHE_PATH", (code.folder.path() / "client").string());
  CHECK_FALSE(code.has_lines());
  const Variable server("DEBUGINFOD_URLS", "file://" + (code.folder.path() / "served").string() + "/");
  check_known_frames(code.frames());
}
