// Calls functions by their exact symbol and prints everything that a caller can observe: the code, whether the
// outputs were written, errno. Addresses are not printed, so the text is the same in every run.
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

class Library {
 public:
  Library() = default;
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW)) {
    if (!handle_) std::printf("%s\n", dlerror()), std::exit(3);
  }
  void* find(const char* symbol) const { return dlsym(handle_, symbol); }

  // Calls symbol(arguments…) and prints its code; the case says what is special about the arguments.
  template <typename... Arguments>
  int call(const char* symbol, const char* special, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(find(symbol));
    if (!function) {
      std::printf("%s: not there\n", symbol);
      return -1;
    }
    errno = 77;
    const int code = function(arguments...);
    std::printf("%s, %s: %d%s\n", symbol, special, code, errno == 77 ? "" : ", errno changed");
    return code;
  }

  // Calls symbol(&output, arguments…), prints what became of the output too, and answers it; null where it is
  // untouched.
  template <typename Value, typename... Arguments>
  Value get(const char* symbol, const char* special, Arguments... arguments) const;

  // Gives back what symbol(handle, arguments…) gives back: once, once too often, and null.
  template <typename Value, typename... Arguments>
  void release(const char* symbol, Value handle, Arguments... arguments) const {
    call(symbol, "what there is", handle, arguments...);
    if (!is_careful) call(symbol, "once too often", handle, arguments...);
    call(symbol, "null", Value{}, arguments...);
  }

  // For genuine drivers: they look into handles that are none any more, and into graphics libraries that are not there.
  inline static bool is_careful = false;

  void print_missing(const char* symbol) const {
    void* const found = find(symbol);
    const char* const error = dlerror();
    const char* const words = error ? std::strstr(error, "undefined symbol") : nullptr;
    std::printf("%s: %s, %s\n", symbol, found ? "found" : "not found", words ? words : "no words");
  }

 private:
  void* handle_ = nullptr;
};

// An output parameter that knows whether it was written.
template <typename Value>
class Output {
 public:
  Output() { std::memset(&value_, pattern, sizeof value_); }
  Value* operator&() { return &value_; }
  Value get() const { return value_; }
  bool is_written() const {
    Value untouched;
    std::memset(&untouched, pattern, sizeof untouched);
    return std::memcmp(&untouched, &value_, sizeof value_) != 0;
  }
  void print() const { std::printf("    output %s\n", is_written() ? "written" : "untouched"); }

 private:
  static constexpr int pattern = 0x5a;
  Value value_;
};

template <typename Value, typename... Arguments>
Value Library::get(const char* symbol, const char* special, Arguments... arguments) const {
  Output<Value> output;
  call(symbol, special, &output, arguments...);
  output.print();
  return output.is_written() ? output.get() : Value{};
}
