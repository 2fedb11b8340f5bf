#include "render/text_page.hpp"

#include "catch.hpp"

using namespace gpumem;

TEST_CASE("paragraphs wrap at the width, counted in characters") {
  TextPage page(10, false);
  page.paragraph("µµµµ µµµµ µµµµ", 1);
  CHECK(page.text() == " µµµµ µµµµ\n µµµµ\n");
}

TEST_CASE("tables align their columns, and the last one wraps") {
  TextPage page(24, false);
  page.table({{"bytes", Align::right}, {"site"}}, {{"1", "a short one"}, {"12345678", "longer than that"}}, 0);
  CHECK(page.text() ==
        "   bytes  site\n"
        "       1  a short one\n"
        "12345678  longer than\n"
        "          that\n");
}

TEST_CASE("facts stand beside their labels") {
  TextPage page(20, false);
  page.fact("Peak", "one two three", 6);
  CHECK(page.text() == "  Peak    one two\n          three\n");
}

TEST_CASE("blank lines never double") {
  TextPage page(20, false);
  page.blank_line();
  page.line("a");
  page.blank_line();
  page.heading("b");
  CHECK(page.text() == "a\n\nb\n");
}

TEST_CASE("colour is only emphasis around the same text") {
  TextPage page(20, true);
  page.lead("hello");
  CHECK(page.text() == "\033[1mhello\033[0m\n");
}
