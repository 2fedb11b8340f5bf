#include "symbols/demangle.hpp"

#include "catch.hpp"

using gpumem::demangle;

TEST_CASE("names of C++ are made readable, others stay") {
  CHECK(demangle("_ZN5outer6callerEi") == "outer::caller(int)");
  CHECK(demangle("main") == "main");
  CHECK(demangle("i") == "i");
  CHECK(demangle("_ZN5outer") == "_ZN5outer");
}

TEST_CASE("names of Rust are made readable, older ones without their hash") {
  CHECK(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE") == "core::fmt::Write::write_fmt");
  CHECK(demangle("_ZN38_$LT$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE") ==
        "<T as core::fmt::Debug>::fmt");
  CHECK(demangle("_RNvNtCs1234_7mycrate3foo3bar") == "mycrate::foo::bar");
}

TEST_CASE("a name of four thousand characters is made readable") {
  std::string name = "_ZN", readable;
  for (int i = 0; i < 220; ++i) {
    name += "16sixteen_letters_";
    readable += "sixteen_letters_::";
  }
  CHECK(demangle((name + "1fEv").c_str()) == readable + "f()");
}

TEST_CASE("a name that stands for an endless text stays as it is") {
  std::string name = "_Z1f1AIiiE";
  const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int i = 0; i < 34; ++i) {
    const std::string last = std::string("S") + digits[i] + "_";
    name += "S_I" + last + last + "E";
  }
  CHECK(demangle(name.c_str()) == name);
  const std::string deep = "_Z1f" + std::string(1 << 20, 'P') + "i";
  CHECK(demangle(deep.c_str()) == deep);
}
