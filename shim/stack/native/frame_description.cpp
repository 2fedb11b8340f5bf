#include "stack/native/frame_description.hpp"

#include <link.h>

namespace gpumem {
namespace {

constexpr std::uint64_t return_address_column = 16;

std::uintptr_t header_of(const LoadedObject& object) {
  const auto* part = static_cast<const ElfW(Phdr)*>(object.program_headers);
  for (std::size_t i = 0; i < object.program_header_count; ++i)
    if (part[i].p_type == PT_GNU_EH_FRAME) return object.base + part[i].p_vaddr;
  return 0;
}

// Pairs of a function and its description, sorted, both relative to the header.
struct SearchTable {
  struct Row {
    std::int32_t function, description;
  };
  std::uintptr_t header = 0, rows = 0;
  std::uint64_t count = 0;

  Row row(std::uint64_t i) const {
    Row found;
    std::memcpy(&found, reinterpret_cast<const void*>(rows + i * sizeof found), sizeof found);
    return found;
  }

  bool read(const LoadedObject& object) {
    constexpr unsigned char known_version = 1, pairs_of_32_bits = 0x3b;
    ByteReader in = readable_part(object, header);
    const auto version = in.fixed<unsigned char>(), frame_encoding = in.fixed<unsigned char>(),
               count_encoding = in.fixed<unsigned char>(), table_encoding = in.fixed<unsigned char>();
    if (in.failed() || version != known_version || table_encoding != pairs_of_32_bits) return false;
    in.encoded(frame_encoding, header);
    count = in.encoded(count_encoding, header);
    rows = in.position();
    return !in.failed() && count <= in.left() / sizeof(Row);
  }

  // The description of the last function that begins at or before the address; 0 if none does.
  std::uintptr_t description_before(std::uintptr_t address) const {
    const auto offset = static_cast<std::int64_t>(address - header);
    std::uint64_t low = 0, high = count;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (row(middle).function <= offset) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? 0 : header + static_cast<std::uintptr_t>(std::intptr_t{row(low - 1).description});
  }
};

ByteReader entry_at(const LoadedObject& object, std::uintptr_t address) {
  constexpr std::uint32_t of_64_bits = 0xffffffff;
  ByteReader in = readable_part(object, address);
  const auto length = in.fixed<std::uint32_t>();
  return length == of_64_bits ? ByteReader() : in.part(length);
}

bool read_common(ByteReader in, FrameDescription& found, bool& has_own_augmentation) {
  in.fixed<std::uint32_t>();
  const auto version = in.fixed<unsigned char>();
  char augmentation[8] = "";
  std::size_t length = 0;
  for (char c; (c = in.fixed<char>()) != '\0'; augmentation[length++] = c)
    if (length + 1 == sizeof augmentation) return false;
  augmentation[length] = '\0';
  found.code_alignment = in.unsigned_leb();
  found.data_alignment = in.signed_leb();
  const std::uint64_t column = version == 1 ? in.fixed<unsigned char>() : in.unsigned_leb();
  if (in.failed() || column != return_address_column) return false;
  has_own_augmentation = augmentation[0] == 'z';
  if (!has_own_augmentation && length != 0) return false;
  ByteReader data = has_own_augmentation ? in.part(in.unsigned_leb()) : ByteReader();
  for (std::size_t i = 1; i < length; ++i) {
    switch (augmentation[i]) {
      case 'R': found.pointer_encoding = data.fixed<unsigned char>(); break;
      case 'P': {
        constexpr unsigned char format = 0x0f;
        data.encoded(data.fixed<unsigned char>() & format);
        break;
      }
      case 'L': data.fixed<unsigned char>(); break;
      case 'S': found.is_signal_frame = true; break;
      case 'B': break;
      default: return false;
    }
    if (augmentation[i] != 'S' && augmentation[i] != 'B' && data.failed()) return false;
  }
  found.common = in;
  return !in.failed();
}

}  // namespace

ByteReader readable_part(const LoadedObject& object, std::uintptr_t address) {
  const auto* part = static_cast<const ElfW(Phdr)*>(object.program_headers);
  for (std::size_t i = 0; i < object.program_header_count; ++i) {
    const std::uintptr_t begin = object.base + part[i].p_vaddr;
    if (part[i].p_type == PT_LOAD && (part[i].p_flags & PF_R) != 0 && address >= begin &&
        address - begin < part[i].p_filesz)
      return ByteReader(address, begin + part[i].p_filesz);
  }
  return ByteReader();
}

Description find_description(const LoadedObject& object, std::uintptr_t address, FrameDescription& found) {
  SearchTable table;
  table.header = header_of(object);
  if (table.header == 0) return Description::none;
  if (!table.read(object)) return Description::unreadable;
  const std::uintptr_t place = table.description_before(address);
  if (place == 0) return Description::none;
  ByteReader in = entry_at(object, place);
  const std::uintptr_t pointer_place = in.position();
  const auto distance = in.fixed<std::uint32_t>();
  bool has_own_augmentation = false;
  if (in.failed() || !read_common(entry_at(object, pointer_place - distance), found, has_own_augmentation))
    return Description::unreadable;
  constexpr unsigned char format = 0x0f;
  found.function = in.encoded(found.pointer_encoding);
  const std::uint64_t size = in.encoded(found.pointer_encoding & format);
  if (has_own_augmentation) in.skip(in.unsigned_leb());
  if (in.failed()) return Description::unreadable;
  found.own = in;
  return address - found.function < size ? Description::found : Description::none;
}

}  // namespace gpumem
