// Where the real functions are: the libraries that export them, and which one a call is for.
//
// A process can hold several libraries that export the same CUDA function (two majors of cudart, a driver behind
// another driver). So each library has a bank of wrappers of its own, and calls that the dynamic linker bound to the
// shim's own export go to the library that the calling file was linked against.
// Libraries come and go: cudart unloads the driver again when it could not start. After each unload what is not mapped
// any more is forgotten, and never touched. No dlerror() state changes.
#pragma once

#include <cstdint>

#include "api/api_table.hpp"
#include "base/loaded_objects.hpp"
#include "intercept/own_calls.hpp"

namespace gpumem {

inline constexpr unsigned linked_bank = 0;
inline constexpr unsigned bank_count = 8;

// The real function behind a wrapper; nullptr if there is none. `caller` is the return address of the wrapper.
void* real_function(ApiId api, unsigned bank, const void* caller);

// If `found`, the answer of a look-up, is the real function of a row, the wrapper of that row for the library that it
// lives in; else `found` itself. `wanted` is the row that the look-up was for, or none: used to count look-ups that
// ought to have been recognised.
void* redirect(void* found, ApiId wanted);

// Whether the file that holds the address `caller` was linked with a loaded library that exports the function.
bool caller_is_linked_with(ApiId api, const void* caller);

// Whether it is libcuda, or a shared cudart, by its soname: TensorFlow's own library exports the functions of both, and
// is neither.
bool is_driver(const LoadedObject& object);
bool is_runtime(const LoadedObject& object);

// A library that exports CUDA functions.
struct Provider {
  LoadedObject object;
  unsigned serial = 0;     // from 1, in the order of discovery
  bool is_driver = false;  // libcuda itself
  void* real[api_count] = {};
  OwnCalls own_calls;
};

// How many have been discovered so far: the highest serial.
unsigned provider_serials();

// The one with this serial; nullptr if it is unknown or has gone.
const Provider* provider_with_serial(unsigned serial);

// libcuda, or nullptr while none is mapped that we know of.
const Provider* driver_provider();

}  // namespace gpumem
