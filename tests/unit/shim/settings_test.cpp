#include "api/settings.hpp"

#include "catch.hpp"

using namespace gpumem;

TEST_CASE("sizes take K, M and G and nothing else") {
  std::uint64_t value = 1;
  CHECK(parse_setting("0", value));
  CHECK(value == 0);
  CHECK(parse_setting("12", value));
  CHECK(value == 12);
  CHECK(parse_setting("3k", value));
  CHECK(value == 3072);
  CHECK(parse_setting("2G", value));
  CHECK(value == 2147483648u);
  for (const char* bad : {"", " 1", "1 ", "-1", "1KB", "1T", "0x10", "99999999999999999999", "18446744073709551615K"}) {
    value = 5;
    CHECK_FALSE(parse_setting(bad, value));
    CHECK(value == 5);
  }
}

TEST_CASE("flags are 0 or 1") {
  bool value = false;
  CHECK(parse_setting("1", value));
  CHECK(value);
  CHECK(parse_setting("0", value));
  CHECK_FALSE(value);
  for (const char* bad : {"", "2", "10", "true", "yes"}) CHECK_FALSE(parse_setting(bad, value));
}

TEST_CASE("a way of walking stacks is one of three names") {
  Settings::way value;
  CHECK(value.choice == UnwinderChoice::automatic);
  CHECK(parse_setting("boost", value));
  CHECK(value.choice == UnwinderChoice::boost);
  for (const char* bad : {"", "Auto", "boost ", "libunwind"}) CHECK_FALSE(parse_setting(bad, value));
  CHECK(value.choice == UnwinderChoice::boost);
  CHECK(parse_setting("rules", value));
  CHECK(value.choice == UnwinderChoice::rules);
}

TEST_CASE("counts lie between 0 and 256") {
  unsigned value = 9;
  CHECK(parse_setting("1", value));
  CHECK(parse_setting("256", value));
  CHECK(value == 256);
  for (const char* bad : {"257", "-3", "ten", ""}) CHECK_FALSE(parse_setting(bad, value));
}
