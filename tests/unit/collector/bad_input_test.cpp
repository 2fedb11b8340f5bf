// Whatever a file contains, reading it ends with a result or with one error that names the file; never otherwise.
#include <sys/stat.h>

#include "analyze/analyze.hpp"
#include "catch.hpp"
#include "journal_texts.hpp"
#include "model/error.hpp"

using namespace gpumem;

namespace {

// What the command line would do with it: nothing where it answers, the sentence where it cannot.
std::string trouble_of(const std::filesystem::path& path, Strictness how) {
  try {
    for (const auto& files : find_journals(path)) analyze(files, how);
  } catch (const Error& trouble) {
    return trouble.what();
  }
  return "";
}

const std::filesystem::path golden_journal =
    std::filesystem::path(GOLDEN_FOLDER) / "journals" / "gpumem-node7-5151-7100-0.0.jsonl";

}  // namespace

TEST_CASE("a journal cut at any byte is refused with file and line, or is that of a killed process") {
  const ScratchFolder folder;
  const std::string whole = read_text(golden_journal);
  REQUIRE(whole.size() > 1000);
  std::size_t lines = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("cut.jsonl", whole.substr(0, size));
    const std::string trouble = trouble_of(path, Strictness::strict);
    const bool at_line_end = size > 0 && whole[size - 1] == '\n';
    if (at_line_end) {
      ++lines;
      REQUIRE(trouble.empty());
    } else if (lines == 0) {
      REQUIRE_THAT(trouble, ContainsSubstring(path.string()));
    } else {
      REQUIRE_THAT(trouble, ContainsSubstring(path.string() + " is cut off in line " + std::to_string(lines + 1)));
      REQUIRE_THAT(trouble, ContainsSubstring("--lenient"));
    }
    REQUIRE(trouble_of(path, Strictness::lenient).empty() == (lines > 0));
  }
}

TEST_CASE("any byte of a journal changed to anything never does worse than an error") {
  const ScratchFolder folder;
  const std::string whole = read_text(golden_journal);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\n', '"', '9', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      const auto path = folder.write("changed.jsonl", changed);
      for (const auto how : {Strictness::strict, Strictness::lenient}) {
        const std::string trouble = trouble_of(path, how);
        if (!trouble.empty()) REQUIRE_THAT(trouble, ContainsSubstring(path.string()));
      }
    }
  }
}

TEST_CASE("files that are no journal are refused in one sentence") {
  const ScratchFolder folder;
  const std::string deep(200'000, '[');
  const std::pair<const char*, std::string> inputs[] = {
      {"empty.jsonl", ""},
      {"package.json", "{\n  \"name\": \"other\"\n}\n"},
      {"other.jsonl", "{\"level\":\"info\",\"msg\":\"hello\"}\n"},
      {"list.jsonl", "[1,2,3]\n"},
      {"binary.jsonl", std::string("\x7f"
                                   "ELF\x02\x01\x01\0\0\0\0\0\x03\0>\0\n\xff\xfe",
                                   20)},
      {"padding.jsonl", std::string(5000, '\0')},
      {"newline.jsonl", "\n"},
      {"deep.jsonl", deep + "\n"},
      {"endless.jsonl", std::string(20u << 20, 'x')},
      {"late.jsonl", alloc_line(1, 1) + process_line},
      {"utf8.jsonl", "{\"t\":\"process\",\"ns\":0,\"tid\":1,\"schema\":1,\"pid\":1,\"exe\":\"\xff\"}\n"},
      {"float.jsonl", "{\"t\":\"process\",\"ns\":0,\"tid\":1,\"schema\":1.5,\"pid\":1}\n"},
      {"huge.jsonl", "{\"t\":\"process\",\"ns\":99999999999999999999999,\"tid\":1,\"schema\":1,\"pid\":1}\n"},
  };
  for (const auto& [name, text] : inputs) {
    const auto path = folder.write(name, text);
    CAPTURE(name);
    for (const auto how : {Strictness::strict, Strictness::lenient}) {
      const std::string trouble = trouble_of(path, how);
      CHECK_THAT(trouble, ContainsSubstring(path.string()));
      CHECK(trouble.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("paths that are no file or hold no journal are refused") {
  const ScratchFolder folder;
  CHECK_THAT(trouble_of(folder.path() / "nowhere", Strictness::strict), ContainsSubstring("does not exist"));
  CHECK_THAT(trouble_of(folder.path(), Strictness::strict), ContainsSubstring("holds no journal"));
  const auto pipe = folder.path() / "pipe.jsonl";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(trouble_of(pipe, Strictness::strict), ContainsSubstring("not a regular file"));
}

TEST_CASE("a journal that contradicts itself is counted without harm") {
  const ScratchFolder folder;
  const auto path = folder.write(
      "a.jsonl", process_line + alloc_line(1, 5) + alloc_line(1, 5) +
                     R"({"t":"event","ns":99,"tid":7,"op":"free","i":77})"
                     "\n"
                     R"({"t":"event","ns":99,"tid":7,"op":"context_end","c":12345})"
                     "\n"
                     R"({"t":"failure","ns":99,"tid":7,"tried":"free","api":"cudaFree","p":"0xdead","code":-5})"
                     "\n");
  const auto result = analyze(find_journals(path).front(), Strictness::strict);
  CHECK(result.totals.at({0, "device"}).live == Usage{1, 5});
}
