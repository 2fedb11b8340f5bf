// The call frame information that a loaded file has for one of its functions, found by .eh_frame_hdr's table.
#pragma once

#include <cstdint>

#include "base/loaded_objects.hpp"
#include "stack/native/byte_reader.hpp"

namespace gpumem {

struct FrameDescription {
  std::uintptr_t function = 0;  // its first address
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  unsigned char pointer_encoding = 0;
  bool is_signal_frame = false;
  ByteReader common, own;  // programs: of all functions that share it, then of this one
};

enum class Description { found, none, unreadable };

// `none`: the file says nothing about the address, so the stack ends there. The object must stay mapped meanwhile;
// nothing outside its readable segments is read, whatever its bytes say.
Description find_description(const LoadedObject& object, std::uintptr_t address, FrameDescription& found);

// What can be read from `address` on to the end of its segment; fails where that is none of the object's.
ByteReader readable_part(const LoadedObject& object, std::uintptr_t address);

}  // namespace gpumem
