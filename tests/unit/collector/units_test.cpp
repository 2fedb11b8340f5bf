#include "render/units.hpp"

#include "catch.hpp"

using namespace gpumem;

TEST_CASE("bytes are shown in the unit that people read") {
  CHECK(bytes_text(0) == "0 bytes");
  CHECK(bytes_text(1) == "1 byte");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text((1ull << 20) - 1) == "1.0 MiB");
  CHECK(bytes_text(1610612736) == "1.5 GiB");
  CHECK(bytes_text(~0ull) == "16.0 EiB");
  CHECK(exact_bytes(1610612736) == "1.5 GiB (1,610,612,736 bytes)");
}

TEST_CASE("times are shown in the unit that people read") {
  CHECK(duration_text(12) == "12 ns");
  CHECK(duration_text(1'500) == "1.5 µs");
  CHECK(duration_text(12'000'000) == "12.0 ms");
  CHECK(duration_text(12'340'000'000) == "12.3 s");
  CHECK(duration_text(723'000'000'000) == "12 min 3 s");
  CHECK(duration_text(11'520'000'000'000) == "3 h 12 min");
}

TEST_CASE("a share is never rounded to nothing or to everything") {
  CHECK(percent_text(0, 100) == "0 %");
  CHECK(percent_text(1, 1000) == "<1 %");
  CHECK(percent_text(71, 100) == "71 %");
  CHECK(percent_text(999, 1000) == ">99 %");
  CHECK(percent_text(100, 100) == "100 %");
}

TEST_CASE("text of a journal cannot control the terminal") {
  CHECK(printable("a\033[2Jb\n") == "a\\x1b[2Jb\\n");
  CHECK(printable("\xc2\x9b"
                  "0m") == "\\x9b0m");
  CHECK(printable("µ é") == "µ é");
  CHECK(command_text({"./a b", "", "-x=1"}) == "'./a b' '' -x=1");
}
