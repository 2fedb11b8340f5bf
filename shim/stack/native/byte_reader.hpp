// Reads call frame information, never outside the bytes that it was given: what does not fit is 0 and a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpumem {

class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(std::uintptr_t begin, std::uintptr_t end) : at_(begin), end_(end), failed_(begin > end) {}

  bool failed() const { return failed_; }
  bool at_end() const { return failed_ || at_ == end_; }
  std::uintptr_t position() const { return at_; }
  std::size_t left() const { return failed_ ? 0 : end_ - at_; }

  template <class T>
  T fixed() {
    T value{};
    if (const std::uintptr_t from = at_; skip(sizeof value))
      std::memcpy(&value, reinterpret_cast<void*>(from), sizeof value);
    return value;
  }

  bool skip(std::uint64_t bytes) {
    if (bytes > left()) failed_ = true;
    if (!failed_) at_ += bytes;
    return !failed_;
  }

  // The next `bytes` as a reader of their own.
  ByteReader part(std::uint64_t bytes) {
    const std::uintptr_t from = at_;
    return skip(bytes) ? ByteReader(from, at_) : ByteReader(1, 0);
  }

  std::uint64_t unsigned_leb() {
    unsigned shift = 0;
    return leb(shift);
  }

  std::int64_t signed_leb() {
    unsigned shift = 0;
    std::uint64_t value = leb(shift);
    if (shift < 64 && (value >> (shift - 1) & 1) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

  // A pointer in one of the encodings DW_EH_PE_*; relative ones to where they stand or to `data`. Others fail.
  std::uint64_t encoded(unsigned char encoding, std::uintptr_t data = 0) {
    constexpr unsigned char omitted = 0xff, relative_to_place = 0x10, relative_to_data = 0x30;
    const std::uintptr_t place = at_;
    if (encoding == omitted) return fail();
    std::uint64_t value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: value = fixed<std::uint64_t>(); break;
      case 0x01: value = unsigned_leb(); break;
      case 0x02: value = fixed<std::uint16_t>(); break;
      case 0x03: value = fixed<std::uint32_t>(); break;
      case 0x09: value = static_cast<std::uint64_t>(signed_leb()); break;
      case 0x0a: value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int16_t>()}); break;
      case 0x0b: value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int32_t>()}); break;
      default: return fail();
    }
    switch (encoding & 0xf0) {
      case 0: return value;
      case relative_to_place: return value + place;
      case relative_to_data: return data != 0 ? value + data : fail();
      default: return fail();
    }
  }

 private:
  std::uint64_t fail() {
    failed_ = true;
    return 0;
  }

  std::uint64_t leb(unsigned& shift) {
    std::uint64_t value = 0;
    for (;;) {
      const auto byte = fixed<unsigned char>();
      if (shift >= 70) return fail();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) == 0) return value;
    }
  }

  std::uintptr_t at_ = 1, end_ = 0;
  bool failed_ = true;
};

}  // namespace gpumem
