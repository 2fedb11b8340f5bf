#include "model/journal_reader.hpp"

#include "catch.hpp"
#include "journal_texts.hpp"
#include "model/error.hpp"

using namespace gpumem;

namespace {

struct Reading {
  SkippedLines skipped;
  std::vector<Record> records;
};

Reading read(const std::filesystem::path& path, Strictness how = Strictness::strict) {
  Reading result;
  result.skipped =
      read_journal(find_journals(path).front(), how, [&result](const Record& line) { result.records.push_back(line); });
  return result;
}

std::string trouble_of(const std::filesystem::path& path, Strictness how = Strictness::strict) {
  try {
    read(path, how);
  } catch (const Error& trouble) {
    return trouble.what();
  }
  return "";
}

const std::string nuls(1000, '\0');

}  // namespace

TEST_CASE("every whole line becomes a record") {
  const ScratchFolder folder;
  const auto result = read(folder.write("a.jsonl", process_line + alloc_line(1, 10001) + alloc_line(2, 20002)));
  REQUIRE(result.records.size() == 3);
  CHECK(std::get<ProcessRecord>(result.records[0]).pid == 7);
  CHECK(std::get<EventRecord>(result.records[2]).bytes == 20002);
  CHECK(result.skipped.torn == 0);
}

TEST_CASE("padding after the last line is what a killed process leaves, and no error") {
  const ScratchFolder folder;
  const auto result = read(folder.write("a.jsonl", process_line + alloc_line(1, 10001) + nuls));
  CHECK(result.records.size() == 2);
  CHECK(result.skipped.torn == 0);
}

TEST_CASE("torn lines are skipped and counted, and the line after the padding is kept") {
  const ScratchFolder folder;
  const auto text = process_line + R"({"t":"eve)" + nuls + alloc_line(1, 10001) + R"({"t":"event","n)" + nuls;
  const auto result = read(folder.write("a.jsonl", text));
  CHECK(result.records.size() == 2);
  CHECK(result.skipped.torn == 2);
}

TEST_CASE("a torn line keeps nothing of the memory that its padding would take") {
  const ScratchFolder folder;
  const auto text = process_line + "torn" + std::string(40u << 20, '\0');
  CHECK(read(folder.write("a.jsonl", text)).skipped.torn == 1);
}

TEST_CASE("lines of unknown type are skipped and counted") {
  const ScratchFolder folder;
  const auto result = read(folder.write("a.jsonl", process_line + R"({"t":"of_tomorrow","ns":1,"tid":7,"text":"x"})"
                                                                  "\n"));
  CHECK(result.records.size() == 1);
  CHECK(result.skipped.unknown == 1);
}

TEST_CASE("unknown keys, ops and kinds are read") {
  const ScratchFolder folder;
  const auto result = read(folder.write(
      "a.jsonl", process_line + R"({"t":"event","ns":1,"tid":7,"op":"teleport","new":[1,{"x":2}]})"
                                "\n"
                                R"({"t":"event","ns":1,"tid":7,"op":"alloc","i":1,"n":5,"k":"vmm","new":null})"
                                "\n"));
  CHECK(result.records.size() == 3);
}

TEST_CASE("segments of one process are read in order, whichever of them is named") {
  const ScratchFolder folder;
  for (int segment = 0; segment <= 10; ++segment) {
    folder.write("gpumem-h-7-5-0." + std::to_string(segment) + ".jsonl", process_line + alloc_line(segment, segment));
  }
  folder.write("gpumem-h-8-5-0.0.jsonl", process_line);
  const auto result = read(folder.path() / "gpumem-h-7-5-0.2.jsonl");
  REQUIRE(result.records.size() == 12);
  CHECK(std::holds_alternative<ProcessRecord>(result.records[0]));
  for (std::size_t i = 1; i < 12; ++i) CHECK(std::get<EventRecord>(result.records[i]).bytes == i - 1);
}

TEST_CASE("a folder gives one entry for each process, and knows which went on by exec") {
  const ScratchFolder folder;
  folder.write("gpumem-h-7-5-0.0.jsonl", process_line);
  folder.write("gpumem-h-7-5-1.0.jsonl", process_line);
  folder.write("gpumem-h-8-5-0.0.jsonl", process_line);
  folder.write("gpumem-h-8-5-0.status.json", "{}");
  folder.write("notes.jsonl", "");
  const auto journals = find_journals(folder.path());
  REQUIRE(journals.size() == 3);
  CHECK(journals[0].replaced_by_exec);
  CHECK_FALSE(journals[1].replaced_by_exec);
  CHECK(journals[2].status_file() == folder.path() / "gpumem-h-8-5-0.status.json");
}

TEST_CASE("a stack may have Python frames among the native ones, and say why it has none") {
  const ScratchFolder folder;
  const auto result = read(folder.write(
      "a.jsonl",
      process_line +
          R"({"t":"interpreter","ns":1,"tid":7,"version":"3.16.0","path":"/usr/bin/python3","free_threaded":true,)"
          R"("stacks":"declined","reason":"Python 3.16 is not known"})"
          "\n"
          R"({"t":"python","ns":1,"tid":7,"id":3,"file":"/x/train.py","line":42,"name":"Model.forward"})"
          "\n"
          R"({"t":"python","ns":1,"tid":7,"id":4,"file":"/x/train.py","name":"made"})"
          "\n"
          R"({"t":"stack","ns":1,"tid":7,"id":1,"f":["2:0x5","py:3","py:4","1:0x7"],"py":"cut"})"
          "\n"
          R"({"t":"coverage","ns":1,"tid":7,"when":"end","seen":true,"python":{"read":5,"none":1}})"
          "\n"));
  REQUIRE(result.records.size() == 6);
  const auto& interpreter = std::get<InterpreterRecord>(result.records[1]);
  CHECK(interpreter.version == "3.16.0");
  CHECK(interpreter.path == "/usr/bin/python3");
  CHECK(interpreter.free_threaded);
  CHECK(interpreter.stacks == "declined");
  CHECK(interpreter.reason == "Python 3.16 is not known");
  const auto& place = std::get<PythonRecord>(result.records[2]);
  CHECK(place.id == 3);
  CHECK(place.file == "/x/train.py");
  CHECK(place.line == 42);
  CHECK(place.name == "Model.forward");
  CHECK_FALSE(std::get<PythonRecord>(result.records[3]).line.has_value());
  const auto& stack = std::get<StackRecord>(result.records[4]);
  CHECK(stack.frames == std::vector<Frame>{{2, 5, 0}, {0, 0, 3}, {0, 0, 4}, {1, 7, 0}});
  CHECK(stack.no_python == "cut");
  CHECK(std::get<CoverageRecord>(result.records[5]).python.at("read") == 5);
}

TEST_CASE("lenient reading shows what stands before and after a bad line") {
  const ScratchFolder folder;
  const auto path = folder.write("a.jsonl", process_line + "{oops}\n" + alloc_line(1, 10001));
  CHECK_THAT(trouble_of(path), ContainsSubstring("a.jsonl:2: the line is not valid JSON; use --lenient"));
  const auto result = read(path, Strictness::lenient);
  CHECK(result.records.size() == 2);
  CHECK(result.skipped.invalid == 1);
  CHECK_THAT(result.skipped.first_invalid, ContainsSubstring("a.jsonl:2"));
}

TEST_CASE("a line that lacks a key or has a wrong type is named with the key") {
  const ScratchFolder folder;
  const auto trouble = [&folder](const std::string& line) {
    return trouble_of(folder.write("a.jsonl", process_line + line + "\n"));
  };
  CHECK_THAT(trouble(R"({"t":"event","tid":7,"op":"init"})"), ContainsSubstring(R"(lacks the key "ns")"));
  CHECK_THAT(trouble(R"({"t":"event","ns":1,"op":"init"})"), ContainsSubstring(R"(lacks the key "tid")"));
  CHECK_THAT(trouble(R"({"ns":1,"tid":7})"), ContainsSubstring(R"(lacks the key "t")"));
  CHECK_THAT(trouble(R"({"t":"event","ns":-1,"tid":7,"op":"init"})"), ContainsSubstring(R"("ns")"));
  CHECK_THAT(trouble(R"({"t":"event","ns":1,"tid":7,"op":"alloc","k":"device","n":5})"), ContainsSubstring(R"("i")"));
  CHECK_THAT(trouble(R"({"t":"stack","ns":1,"tid":7,"id":1,"f":["1-0x5"]})"), ContainsSubstring(R"("f")"));
  CHECK_THAT(trouble(R"({"t":"stack","ns":1,"tid":7,"id":1,"f":["py:"]})"), ContainsSubstring(R"("f")"));
  CHECK_THAT(trouble(R"({"t":"stack","ns":1,"tid":7,"id":1,"f":["py:0"]})"), ContainsSubstring(R"("f")"));
  CHECK_THAT(trouble(R"([1,2])"), ContainsSubstring("not a JSON object"));
}

TEST_CASE("a newer schema is refused with its number, even leniently") {
  const ScratchFolder folder;
  const auto path = folder.write("a.jsonl", R"({"t":"process","ns":0,"tid":1,"schema":9,"pid":"?"})"
                                            "\n");
  for (const auto how : {Strictness::strict, Strictness::lenient}) {
    CHECK_THAT(trouble_of(path, how), ContainsSubstring("a.jsonl:1: the line has schema 9"));
  }
}
