#include "symbols/demangle.hpp"

#include <cstring>

// The C library declares it, in a form that libiberty's headers contradict.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

namespace gpumem {
namespace {

// libiberty takes stack in proportion to the name, and back references can stand for exponentially long texts.
constexpr std::size_t longest_mangled = 8u << 10;
constexpr std::size_t longest_readable = 64u << 10;

struct TooLong {};

// Throws through libiberty, which at that point owns nothing but stack.
void append(const char* text, std::size_t length, void* result) {
  auto& readable = *static_cast<std::string*>(result);
  if (readable.size() + length > longest_readable) throw TooLong();
  readable.append(text, length);
}

}  // namespace

std::string demangle(const char* name) {
  // Short names of C functions are valid mangled names of types.
  const bool is_mangled = std::strncmp(name, "_Z", 2) == 0 || std::strncmp(name, "_R", 2) == 0;
  if (!is_mangled || std::strlen(name) > longest_mangled) return name;
  constexpr int options = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
  std::string readable;
  try {
    // Rust's older names are valid names of C++ that end in a hash.
    if (rust_demangle_callback(name, DMGL_PARAMS, append, &readable)) return readable;
    readable.clear();
    if (cplus_demangle_v3_callback(name, options, append, &readable)) return readable;
  } catch (const TooLong&) {
  }
  return name;
}

}  // namespace gpumem
