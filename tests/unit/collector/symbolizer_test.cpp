#include "symbols/symbolizer.hpp"

#include "catch.hpp"
#include "journal_texts.hpp"
#include "known_address.hpp"
#include "symbols/elf_image.hpp"
#include "symbols/symbol_file.hpp"

using namespace gpumem;

TEST_CASE("a return address becomes function, file and line, with the functions inlined there") {
  const KnownAddress known;
  Symbolizer symbols;
  const auto& frames = symbols.resolve(known.file, known.offset);
  REQUIRE(frames.size() == 2);
  CHECK_THAT(*frames[0].function, ContainsSubstring("outer::inlined_helper"));
  CHECK_THAT(*frames[0].file, ContainsSubstring("named_code.cpp"));
  CHECK(frames[0].line == 15);
  CHECK_THAT(*frames[1].function, ContainsSubstring("outer::caller"));
  CHECK(frames[1].line == 21);
  CHECK(symbols.troubles().empty());
}

TEST_CASE("a file that was replaced gives no names but a reason") {
  const KnownAddress known;
  Symbolizer symbols;
  CHECK(symbols.resolve({known.file.path, "00112233"}, known.offset).empty());
  REQUIRE(symbols.troubles().size() == 1);
  CHECK_THAT(symbols.troubles().front(), ContainsSubstring("replaced"));
}

TEST_CASE("a missing file gives no names but a reason") {
  Symbolizer symbols;
  CHECK(symbols.resolve({"/nowhere/lib.so", "0011"}, 5).empty());
  CHECK_THAT(symbols.troubles().front(), ContainsSubstring("missing"));
}

TEST_CASE("a separate debug file is found by build-id") {
  const KnownAddress known;
  const ScratchFolder debug;
  const auto folder = debug.path() / ".build-id" / known.file.build_id.substr(0, 2);
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(known.file.path, folder / (known.file.build_id.substr(2) + ".debug"));
  Symbolizer symbols({debug.path().string()});
  CHECK(symbols.resolve({"/gone/lib.so", known.file.build_id}, known.offset).size() == 2);
  CHECK(symbols.troubles().empty());
}

TEST_CASE("names survive in the sidecar when the file is gone") {
  const KnownAddress known;
  const ScratchFolder folder;
  Symbolizer here;
  const auto sidecar = folder.path() / "x.symbols.json";
  write_symbol_file(sidecar, here.resolve_all({{known.file, {known.offset}}}));
  const auto names = read_symbol_file(sidecar);
  REQUIRE(names.size() == 1);
  Symbolizer elsewhere;
  elsewhere.add_known(names);
  CHECK(elsewhere.resolve(known.file, known.offset).size() == 2);
  CHECK(read_symbol_file(folder.path() / "none").empty());
  CHECK(read_symbol_file(folder.write("bad", "{\"modules\":[1,{\"frames\":{\"x\":5,\"0x1\":[1]}}]}")).size() <= 1);
}

TEST_CASE("that an address has no name, and why, survives in the sidecar too") {
  const ScratchFolder folder;
  const CodeFile gone{"/nowhere/lib.so", "0011"};
  Symbolizer here;
  const auto sidecar = folder.path() / "x.symbols.json";
  write_symbol_file(sidecar, here.resolve_all({{gone, {5}}}));
  const KnownAddress known;
  auto names = read_symbol_file(sidecar);
  names[known.file] = names.at(gone);
  names[known.file].frames.emplace(known.offset, NamedFrames{});
  Symbolizer elsewhere;
  elsewhere.add_known(names);
  CHECK(elsewhere.resolve(known.file, known.offset).empty());
  REQUIRE(elsewhere.troubles().size() == 1);
  CHECK_THAT(elsewhere.troubles().front(), ContainsSubstring("missing"));
}

TEST_CASE("when the time for names is used up, the rest keeps its place, and the reason is told") {
  const KnownAddress known;
  SymbolSources hurried;
  hurried.limit = std::chrono::milliseconds(0);
  Symbolizer symbols(hurried);
  CHECK(symbols.resolve_all({{known.file, {known.offset, known.offset + 1}}}).at(known.file).frames.empty());
  CHECK_THAT(symbols.trouble_of(known.file), ContainsSubstring("2 addresses were not looked up"));
}

TEST_CASE("a damaged ELF file never does worse than no names") {
  const ScratchFolder folder;
  const std::string whole = read_text(NAMED_CODE);
  const auto try_it = [&folder](const std::string& bytes) {
    Symbolizer symbols;
    symbols.resolve({folder.write("damaged.so", bytes).string(), ""}, 0x1150);
  };
  for (std::size_t size = 0; size < whole.size(); size += 97) try_it(whole.substr(0, size));
  for (std::size_t at = 0; at < whole.size(); at += 31) {
    std::string changed = whole;
    for (std::size_t i = at; i < std::min(at + 4, whole.size()); ++i) changed[i] = static_cast<char>(0xff);
    try_it(changed);
  }
}
