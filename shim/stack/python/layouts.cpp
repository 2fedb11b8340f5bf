#include "stack/python/layouts.hpp"

#include <cstddef>
#include <cstring>

namespace gpumem {
namespace {

using Layout = PythonLayout;
using Chain = FrameChainKind;
using Lines = LineTableKind;

// Objects begin with a longer head in free-threaded builds.
constexpr decltype(Layout::object) object{8, 16, 16, 32}, long_object{24, 32, 32, 48};
constexpr decltype(Layout::text) text_of_8{16, 32, 48, 72, 0x1c, 2, 0x20, 0x40, 0x80},
    text_of_12{16, 32, 40, 56, 0x1c, 2, 0x20, 0x40, 0}, text_of_13t{32, 48, 56, 72, 0x1c, 2, 0x20, 0x40, 0},
    text_of_14t{32, 48, 56, 72, 0x700, 8, 0x800, 0x1000, 0};
constexpr decltype(Layout::code) code_of_8{104, 112, 40, 120, 48, 0, 0, 0};
constexpr decltype(Layout::frame) frame_of_8{32, 24, 104, 0, 0, 0, 0};

// Compiled against the headers of each version (docs/PYTHON.md).
constexpr Layout layouts[] = {
    {8, false, Chain::frame_objects, Lines::address_steps, object, text_of_8, {176, 24}, {}, frame_of_8, code_of_8},
    {9, false, Chain::frame_objects, Lines::address_steps, object, text_of_8, {176, 24}, {}, frame_of_8, code_of_8},
    {10,
     false,
     Chain::frame_objects_and_cframes,
     Lines::ranges,
     object,
     text_of_8,
     {176, 24},
     {48, 0, 8},
     {32, 24, 96, 0, 0, 0, 0},
     code_of_8},
    {11,
     false,
     Chain::entry_marks,
     Lines::locations,
     object,
     text_of_8,
     {152, 56},
     {56, 8, 16},
     {32, 48, 56, 69, 68, 0, 0},
     {112, 128, 72, 136, 184, 168, 0, 0}},
    {12,
     false,
     Chain::cframe_and_shims,
     Lines::locations,
     object,
     text_of_12,
     {136, 56},
     {56, 0, 8},
     {0, 8, 56, 70, 0, 0, 0},
     {112, 128, 68, 136, 192, 176, 92, 0}},
    {13,
     false,
     Chain::shims,
     Lines::locations,
     object,
     text_of_12,
     {152, 72},
     {},
     {0, 8, 56, 70, 0, 0, 0},
     {112, 128, 68, 136, 200, 184, 92, 0}},
    {13,
     true,
     Chain::shims,
     Lines::locations,
     long_object,
     text_of_13t,
     {152, 72},
     {},
     {0, 8, 56, 70, 0, 0, 0},
     {128, 144, 84, 152, 216, 200, 108, 0}},
    {14,
     false,
     Chain::shims,
     Lines::locations,
     object,
     text_of_12,
     {152, 72},
     {},
     {0, 8, 56, 74, 0, 0, 3},
     {112, 128, 68, 136, 208, 192, 92, 0}},
    {14,
     true,
     Chain::shims,
     Lines::locations,
     long_object,
     text_of_14t,
     {152, 72},
     {},
     {0, 8, 56, 78, 0, 72, 3},
     {128, 144, 84, 152, 232, 208, 108, 224}},
    {15,
     false,
     Chain::shims,
     Lines::locations,
     object,
     text_of_12,
     {176, 72},
     {},
     {0, 8, 56, 74, 0, 0, 3},
     {112, 128, 68, 136, 208, 192, 92, 0}},
    {15,
     true,
     Chain::shims,
     Lines::locations,
     long_object,
     text_of_14t,
     {176, 72},
     {},
     {0, 8, 56, 78, 0, 72, 3},
     {128, 144, 84, 152, 232, 208, 108, 224}},
};

// The same field's place in the debug offsets of 3.13, 3.14 and 3.15; 0: not there.
constexpr unsigned first_minor_with_debug_offsets = 13;
constexpr struct {
  std::size_t field;
  std::uint16_t at[3];
  bool only_free_threaded = false;
} debug_offsets[] = {
    {offsetof(Layout, thread.frame), {184, 208, 208}},
    {offsetof(Layout, thread.id), {192, 216, 240}},
    {offsetof(Layout, frame.previous), {232, 256, 320}},
    {offsetof(Layout, frame.code), {240, 264, 328}},
    {offsetof(Layout, frame.instruction), {248, 272, 336}},
    {offsetof(Layout, frame.owner), {264, 288, 352}},
    {offsetof(Layout, frame.bytecode_index), {0, 304, 368}, true},
    {offsetof(Layout, code.file), {280, 320, 384}},
    {offsetof(Layout, code.name), {296, 336, 400}},
    {offsetof(Layout, code.lines), {304, 344, 408}},
    {offsetof(Layout, code.first_line), {312, 352, 416}},
    {offsetof(Layout, code.instructions), {344, 384, 448}},
    {offsetof(Layout, code.bytecodes), {0, 392, 456}, true},
    {offsetof(Layout, object.type), {360, 408, 472}},
    {offsetof(Layout, object.size), {520, 600, 696}},
    {offsetof(Layout, object.bytes_size), {520, 600, 696}},
    {offsetof(Layout, object.bytes_data), {528, 608, 704}},
    {offsetof(Layout, text.state), {544, 624, 720}},
    {offsetof(Layout, text.length), {552, 632, 728}},
    {offsetof(Layout, text.ascii), {560, 640, 736}},
};

}  // namespace

const PythonLayout* known_layout(unsigned minor, bool free_threaded) {
  for (const Layout& layout : layouts)
    if (layout.minor == minor && layout.free_threaded == free_threaded) return &layout;
  return nullptr;
}

bool has_debug_offsets(unsigned minor) { return minor >= first_minor_with_debug_offsets; }

bool DebugOffsetsHead::is_valid() const { return std::memcmp(cookie, "xdebugpy", sizeof cookie) == 0; }

bool take_debug_offsets(std::uintptr_t runtime, PythonLayout& layout) {
  Layout told = layout;
  for (const auto& entry : debug_offsets) {
    const std::uint16_t at = entry.at[layout.minor - first_minor_with_debug_offsets];
    if (at == 0 || (entry.only_free_threaded && !layout.free_threaded)) continue;
    std::uint64_t value;
    std::memcpy(&value, reinterpret_cast<const void*>(runtime + at), sizeof value);
    constexpr std::uint64_t largest = 4095;
    if (value > largest) return false;
    *reinterpret_cast<Layout::Offset*>(reinterpret_cast<char*>(&told) + entry.field) =
        static_cast<Layout::Offset>(value);
  }
  // Not told, but at the end of the same structure.
  const int moved = told.code.instructions - layout.code.instructions;
  told.code.first_traceable = static_cast<Layout::Offset>(told.code.first_traceable + moved);
  layout = told;
  return true;
}

}  // namespace gpumem
