#include "journal/line.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "api/api_table.hpp"
#include "catch.hpp"
#include "journal/records.hpp"

using namespace gpumem;
using nlohmann::json;

namespace {

json text_line(std::string_view value) {
  static char buffer[4096];
  Line line(buffer, sizeof buffer);
  line.open("event", 5, 7);
  line.text("v", value);
  line.close();
  REQUIRE(line.fits());
  REQUIRE(line.view().back() == '\n');
  return json::parse(line.view());
}

}  // namespace

TEST_CASE("text of every kind comes back as it was") {
  for (const std::string text : {"", "plain", "quote \" and \\ backslash", "tab\tline\nfeed\x01\x7f",
                                 "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    const json line = text_line(text);
    CHECK(line["v"] == text);
    CHECK(line.count("v_raw_hex") == 0);
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced, and kept beside") {
  struct Case {
    std::string text, shown, hex;
  };
  const std::string replacement = "\xef\xbf\xbd";
  for (const Case& c : {Case{"a\xff"
                             "b",
                             "a" + replacement + "b", "61ff62"},
                        Case{"\xc0\xaf", replacement + replacement, "c0af"},
                        Case{"\xed\xa0\x80", replacement + replacement + replacement, "eda080"},
                        Case{"\xe2\x82", replacement + replacement, "e282"},
                        Case{"\xf5\x80\x80\x80", replacement + replacement + replacement + replacement, "f5808080"}}) {
    const json line = text_line(c.text);
    CHECK(line["v"] == c.shown);
    CHECK(line["v_raw_hex"] == c.hex);
  }
}

TEST_CASE("a line that does not fit says so and leaves the buffer's end alone") {
  char buffer[64];
  buffer[40] = 'x';
  Line line(buffer, 40);
  line.open("event", 1, 2);
  line.text("long", "0123456789012345678901234567890123456789");
  line.close();
  CHECK_FALSE(line.fits());
  CHECK(line.size() <= 40);
  CHECK(buffer[40] == 'x');
}

TEST_CASE("the longest ordinary event stays within 200 bytes") {
  char buffer[1024];
  Line line(buffer, sizeof buffer);
  EventRecord record;
  record.op = "alloc";
  record.api = ApiId::cudaMallocAsync;
  record.inner = ApiId::cuMemAllocAsync;
  record.has_memory = record.has_address = record.has_stack = true;
  record.kind = MemoryKind::async;
  record.block = 12'345'678;
  record.address = 0x7f1234567800;
  record.size = 1'073'741'824;
  record.live = 85'899'345'920;
  record.device = 7;
  record.context = 2;
  record.stack = 1234;
  begin_event(line, {86'400'000'000'000, 1234567}, record);
  line.close();
  const json parsed = json::parse(line.view());
  CHECK(parsed["n"] == 1'073'741'824);
  CHECK(parsed["p"] == "0x7f1234567800");
  CHECK(line.size() <= 240);
}

TEST_CASE("absent values leave no key behind") {
  char buffer[512];
  Line line(buffer, sizeof buffer);
  EventRecord record;
  record.op = "free";
  record.api = ApiId::cudaFree;
  record.has_address = true;
  record.address = 0x10;
  record.unknown_pointer = true;
  begin_event(line, {1, 2}, record);
  line.close();
  const json parsed = json::parse(line.view());
  CHECK(parsed == json{{"t", "event"},
                       {"ns", 1},
                       {"tid", 2},
                       {"op", "free"},
                       {"api", "cudaFree"},
                       {"p", "0x10"},
                       {"unknown", true}});
}
