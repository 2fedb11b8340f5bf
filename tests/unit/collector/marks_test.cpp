// Marks that a person sets, and what is told of them.
#include "model/marks_file.hpp"

#include <sys/stat.h>

#include "analyze/analyze.hpp"
#include "catch.hpp"
#include "journal_texts.hpp"
#include "model/error.hpp"

using namespace gpumem;

TEST_CASE("marks are appended whole, by the owner alone, and read back in the order of time") {
  const ScratchFolder folder;
  const auto path = folder / "a.marks.jsonl";
  append_mark(path, {20, "second \"one\""});
  append_mark(path, {10, "first\nof two lines"});
  const auto read = read_marks(path);
  REQUIRE(read.marks.size() == 2);
  CHECK(read.marks[0].text == "first\nof two lines");
  CHECK(read.marks[1].ns == 20);
  CHECK(read.bad_lines == 0);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("bad lines among marks are skipped and counted, and an unfinished one spoils no other") {
  const ScratchFolder folder;
  const auto path = folder.write("a.marks.jsonl", "nonsense\n{\"t\":\"mark\",\"ns\":-1,\"text\":\"x\"}\n{\"t\":\"ma");
  append_mark(path, {5, "good"});
  const auto read = read_marks(path);
  CHECK(read.bad_lines == 3);
  REQUIRE(read.marks.size() == 1);
  CHECK(read.marks[0].text == "good");
}

TEST_CASE("a mark is never written through a link, nor to what is no file") {
  const ScratchFolder folder;
  folder.write("target", "");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  CHECK_THROWS_AS(append_mark(folder / "link", {1, "x"}), Error);
  CHECK(read_text(folder / "target").empty());
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(append_mark(folder / "pipe", {1, "x"}), Error);
}

TEST_CASE("a mark tells what was live at its time") {
  const ScratchFolder folder;
  folder.write("gpumem-elsewhere-7-5-0.0.jsonl", process_line + alloc_line(1, 100) + alloc_line(2, 50));
  for (const std::uint64_t ns : {5, 11, 90}) append_mark(folder / "gpumem-elsewhere-7-5-0.marks.jsonl", {ns, "m"});
  const auto process = analyze(find_journals(folder.path()).front(), Strictness::strict);
  REQUIRE(process.marks.size() == 3);
  CHECK(process.marks[0].on_device.empty());
  CHECK(process.marks[1].on_device.at(0) == 100);
  CHECK(process.marks[2].on_device.at(0) == 150);
}

TEST_CASE("marks that the program sets stand among the others, and the ends of its ranges do not") {
  const ScratchFolder folder;
  folder.write("gpumem-elsewhere-7-5-0.0.jsonl",
               process_line + alloc_line(1, 100) +
                   "{\"t\":\"mark\",\"ns\":11,\"tid\":1,\"from\":\"nvtx\",\"text\":\"epoch 1\",\"depth\":0}\n"
                   "{\"t\":\"mark\",\"ns\":12,\"tid\":1,\"from\":\"nvtx\",\"end\":true,\"depth\":0}\n" +
                   alloc_line(2, 50));
  append_mark(folder / "gpumem-elsewhere-7-5-0.marks.jsonl", {5, "a person's"});
  const auto process = analyze(find_journals(folder.path()).front(), Strictness::strict);
  REQUIRE(process.marks.size() == 2);
  CHECK(process.marks[0].mark.text == "a person's");
  CHECK(process.marks[1].mark.text == "epoch 1");
  CHECK(process.marks[1].on_device.at(0) == 100);
}

TEST_CASE("of very many marks of the program the newest are kept") {
  const ScratchFolder folder;
  std::string text = process_line;
  for (int i = 0; i < 3000; ++i) {
    text += "{\"t\":\"mark\",\"ns\":" + std::to_string(i) + ",\"tid\":1,\"from\":\"nvtx\",\"text\":\"step " +
            std::to_string(i) + "\"}\n";
  }
  folder.write("gpumem-elsewhere-7-5-0.0.jsonl", text);
  const auto process = analyze(find_journals(folder.path()).front(), Strictness::strict);
  CHECK(process.marks.size() == 1000);
  CHECK(process.marks.back().mark.text == "step 2999");
}
