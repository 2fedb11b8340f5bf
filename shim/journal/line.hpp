// One line of the journal while it is put together, in a buffer of the caller's.
//
// Never allocates. A line that does not fit is marked as such and must not be written.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <system_error>
#include "journal/schema.hpp"

namespace gpumem {

class Line {
 public:
  Line(char* buffer, std::size_t capacity) : begin_(buffer), next_(buffer), end_(buffer + capacity) {}

  // {"t":"<type>","ns":…,"tid":…
  void open(std::string_view type, std::uint64_t ns, std::uint32_t tid) {
    ns_ = ns;
    put("{\"t\":\"");
    put(type);
    put("\"");
    number("ns", ns);
    number("tid", tid);
  }
  // }\n
  void close() { put("}\n"); }

  // ,"key":  — or "key": right after an opening brace.
  void key(std::string_view name) {
    if (next_ != begin_ && next_[-1] != '{') put(",");
    put("\"");
    put(name);
    put("\":");
  }
  // , between the elements of a list
  void separate() {
    if (next_ != begin_ && next_[-1] != '[') put(",");
  }

  void number(std::string_view name, std::uint64_t value) { key(name), digits(value); }
  void signed_number(std::string_view name, std::int64_t value) {
    key(name);
    if (value < 0) put("-");
    digits(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  }
  void hex(std::string_view name, std::uint64_t value) { key(name), quoted_hex(value); }
  void text(std::string_view name, std::string_view value);  // with its _raw_hex sibling where needed
  // The same, but where it does not fit and leave so much room, the line stays as it was: false.
  bool text_with_room(std::string_view name, std::string_view value, std::size_t room);
  void word(std::string_view name, std::string_view value) {  // a name of ours: nothing to escape
    key(name);
    put("\"");
    put(value);
    put("\"");
  }
  void truth(std::string_view name, bool value) { key(name), put(value ? "true" : "false"); }
  void null(std::string_view name) { key(name), put("null"); }

  void put(std::string_view raw) {
    if (raw.size() > static_cast<std::size_t>(end_ - next_)) {
      overflowed_ = true;
      return;
    }
    std::memcpy(next_, raw.data(), raw.size());
    next_ += raw.size();
  }
  template <int base = 10>
  void digits(std::uint64_t value) {
    const std::to_chars_result written = std::to_chars(next_, end_, value, base);
    if (written.ec == std::errc{}) {
      next_ = written.ptr;
    } else {
      overflowed_ = true;
    }
  }
  void quoted_hex(std::uint64_t value) {
    put("\"0x");
    digits<16>(value);
    put("\"");
  }
  // "<module>:0x<offset>"
  void frame(std::uint32_t module, std::uint64_t offset) {
    put("\"");
    digits(module);
    put(":0x");
    digits<16>(offset);
    put("\"");
  }
  // "py:<place>"
  void python_frame(std::uint32_t place) {
    put("\"");
    put(schema::python_frame);
    digits(place);
    put("\"");
  }
  void hex_bytes(const void* bytes, std::size_t count);
  // A JSON string; returns whether every byte was valid UTF-8.
  bool quoted(std::string_view value);

  // As it was opened with.
  std::uint64_t ns() const { return ns_; }

  bool fits() const { return !overflowed_; }
  std::size_t size() const { return static_cast<std::size_t>(next_ - begin_); }
  std::string_view view() const { return {begin_, size()}; }

 private:
  char* begin_;
  char* next_;
  char* end_;
  std::uint64_t ns_ = 0;
  bool overflowed_ = false;
};

}  // namespace gpumem
