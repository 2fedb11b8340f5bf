// The part of NVTX's interface for tools, versions 2 and 3, that the shim uses: plain layouts, as its headers have them.
// A test holds them against those headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem::nvtx {

using GetExportTable = const void* (*)(std::uint32_t);
using Function = void (*)();
using FunctionTable = Function**;  // places of the functions' addresses

inline constexpr std::uint32_t callbacks_table = 1;
struct Callbacks {
  std::size_t size;
  int (*get_module_function_table)(int module, FunctionTable* table, unsigned* size);  // 0: there is none
};

inline constexpr int module_core = 1, module_core2 = 5;
enum CoreFunction : unsigned {
  mark_ex = 1,
  mark_ascii = 2,
  range_start_ex = 4,
  range_start_ascii = 5,
  range_push_ex = 8,
  range_push_ascii = 9,
  range_pop = 11,
};
enum Core2Function : unsigned {
  domain_mark_ex = 1,
  domain_range_start_ex = 2,
  domain_range_push_ex = 4,
  domain_range_pop = 5,
  domain_register_string_ascii = 10,
};

inline constexpr std::int32_t message_ascii = 1, message_registered = 3;
struct Attributes {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};

}  // namespace gpumem::nvtx
