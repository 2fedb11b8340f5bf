#include "stack/native/unwind_rules.hpp"

#include "stack/native/frame_description.hpp"

namespace gpumem {
namespace {

constexpr std::uint64_t rbp = 6, rsp = 7, return_address = 16;

struct SavedRegister {
  enum class How { unchanged, undefined, at_offset, by_expression, otherwise } how = How::unchanged;
  std::int64_t offset = 0;
  ByteReader expression;
};

// One row of the table that a call frame program describes.
struct Row {
  std::uint64_t end_register = rsp;
  std::int64_t end_offset = 0;
  bool end_by_expression = false;
  ByteReader end_expression;
  SavedRegister saved_rbp, saved_rsp, saved_return_address;

  SavedRegister* saved(std::uint64_t number) {
    switch (number) {
      case rbp: return &saved_rbp;
      case rsp: return &saved_rsp;
      case return_address: return &saved_return_address;
      default: return nullptr;
    }
  }
};

class CallFrameProgram {
 public:
  CallFrameProgram(const FrameDescription& description, std::uintptr_t address)
      : description_(description), address_(address), location_(description.function) {}

  bool run() {
    if (!run(description_.common)) return false;
    initial_ = row_;
    location_ = description_.function;
    return run(description_.own);
  }
  const Row& row() const { return row_; }

 private:
  // Up to the row that holds at the address; false: a program that cannot be followed.
  bool run(ByteReader in) {
    while (!in.at_end() && location_ <= address_)
      if (!step(in)) return false;
    return !in.failed();
  }

  bool step(ByteReader& in) {
    const auto code = in.fixed<unsigned char>();
    const std::uint64_t operand = code & 0x3f;
    switch (code >> 6) {
      case 1: return advance(operand);
      case 2: return save(operand, SavedRegister::How::at_offset, scaled(in.unsigned_leb()));
      case 3: return restore(operand);
      default: return step(in, code);
    }
  }

  bool step(ByteReader& in, unsigned char code) {
    using How = SavedRegister::How;
    switch (code) {
      case 0x00: return true;
      case 0x01: location_ = in.encoded(description_.pointer_encoding); return true;
      case 0x02: return advance(in.fixed<std::uint8_t>());
      case 0x03: return advance(in.fixed<std::uint16_t>());
      case 0x04: return advance(in.fixed<std::uint32_t>());
      case 0x05: return save_next(in, [&] { return scaled(in.unsigned_leb()); });
      case 0x06: return restore(in.unsigned_leb());
      case 0x07: return save(in.unsigned_leb(), How::undefined, 0);
      case 0x08: return save(in.unsigned_leb(), How::unchanged, 0);
      case 0x09:                                                                  // in another register
      case 0x14: return save_otherwise(in, [&] { in.unsigned_leb(); });           // is an address
      case 0x15: return save_otherwise(in, [&] { in.signed_leb(); });             // the same, signed
      case 0x16: return save_otherwise(in, [&] { in.skip(in.unsigned_leb()); });  // is a computed address
      case 0x0a: return remember();
      case 0x0b: return recall();
      case 0x0c: return end_at(in.unsigned_leb(), [&] { return static_cast<std::int64_t>(in.unsigned_leb()); });
      case 0x12: return end_at(in.unsigned_leb(), [&] { return scaled(in.signed_leb()); });
      case 0x0d: return end_at(in.unsigned_leb(), [&] { return row_.end_offset; });
      case 0x0e: return end_at(row_.end_register, [&] { return static_cast<std::int64_t>(in.unsigned_leb()); });
      case 0x13: return end_at(row_.end_register, [&] { return scaled(in.signed_leb()); });
      case 0x0f:
        row_.end_by_expression = true;
        row_.end_expression = in.part(in.unsigned_leb());
        return true;
      case 0x10: {
        const std::uint64_t number = in.unsigned_leb();
        const ByteReader expression = in.part(in.unsigned_leb());
        return save(number, How::by_expression, 0, expression);
      }
      case 0x11: return save_next(in, [&] { return scaled(in.signed_leb()); });
      case 0x2e: in.unsigned_leb(); return true;  // size of pushed arguments
      default: return false;
    }
  }

  template <class T>
  std::int64_t scaled(T factor) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(factor) *
                                     static_cast<std::uint64_t>(description_.data_alignment));
  }

  bool advance(std::uint64_t units) {
    location_ += units * description_.code_alignment;
    return true;
  }

  bool save(std::uint64_t number, SavedRegister::How how, std::int64_t offset, ByteReader expression = {}) {
    if (SavedRegister* saved = row_.saved(number)) *saved = {how, offset, expression};
    return true;
  }
  template <class Offset>
  bool save_next(ByteReader& in, Offset offset) {
    const std::uint64_t number = in.unsigned_leb();
    return save(number, SavedRegister::How::at_offset, offset());
  }
  template <class Skip>
  bool save_otherwise(ByteReader& in, Skip skip) {
    const std::uint64_t number = in.unsigned_leb();
    skip();
    return save(number, SavedRegister::How::otherwise, 0);
  }
  bool restore(std::uint64_t number) {
    if (SavedRegister* saved = row_.saved(number)) *saved = *initial_.saved(number);
    return true;
  }

  template <class Offset>
  bool end_at(std::uint64_t number, Offset offset) {
    row_.end_register = number;
    row_.end_offset = offset();
    row_.end_by_expression = false;
    return true;
  }

  bool remember() {
    if (remembered_ == sizeof rows_ / sizeof *rows_) return false;
    rows_[remembered_++] = row_;
    return true;
  }
  bool recall() {
    if (remembered_ == 0) return false;
    row_ = rows_[--remembered_];
    return true;
  }

  const FrameDescription& description_;
  const std::uintptr_t address_;
  std::uintptr_t location_;
  Row row_, initial_, rows_[4];
  unsigned remembered_ = 0;
};

constexpr unsigned char push_rbp_plus = 0x76, load = 0x06;

bool is_saved_at_rbp(ByteReader expression) {
  return expression.fixed<unsigned char>() == push_rbp_plus && expression.signed_leb() == 0 && expression.at_end() &&
         !expression.failed();
}

bool set_end(const Row& row, UnwindRule& rule) {
  std::int64_t offset = row.end_offset;
  if (row.end_by_expression) {
    ByteReader in = row.end_expression;
    if (in.fixed<unsigned char>() != push_rbp_plus) return false;
    offset = in.signed_leb();
    if (in.fixed<unsigned char>() != load || in.failed() || !in.at_end()) return false;
    rule.end = UnwindRule::FrameEnd::loaded_from_rbp;
  } else if (row.end_register == rsp || row.end_register == rbp) {
    rule.end = row.end_register == rsp ? UnwindRule::FrameEnd::from_rsp : UnwindRule::FrameEnd::from_rbp;
  } else {
    return false;
  }
  rule.frame_size = static_cast<std::int32_t>(offset);
  return rule.frame_size == offset;
}

bool set_rbp(const SavedRegister& saved, UnwindRule& rule) {
  switch (saved.how) {
    case SavedRegister::How::unchanged:
    case SavedRegister::How::undefined: return true;
    case SavedRegister::How::at_offset:
      rule.rbp = UnwindRule::CallersRbp::saved_below_end;
      rule.rbp_slot = static_cast<std::int16_t>(saved.offset / 8);
      return rule.rbp_slot * std::int64_t{8} == saved.offset;
    case SavedRegister::How::by_expression:
      rule.rbp = UnwindRule::CallersRbp::saved_at_rbp;
      return is_saved_at_rbp(saved.expression);
    default: return false;
  }
}

// Code without a description ends the stack, but for the return from a signal handler, which unwinders know by its
// bytes: mov $SYS_rt_sigreturn, %rax; syscall.
bool returns_from_signal(const LoadedObject& object, std::uintptr_t address) {
  constexpr unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
  const ByteReader in = readable_part(object, address);
  return in.left() < sizeof code || std::memcmp(reinterpret_cast<const void*>(address), code, sizeof code) == 0;
}

}  // namespace

UnwindRule derive_rule(const LoadedObject& object, std::uintptr_t address) {
  FrameDescription description;
  switch (find_description(object, address, description)) {
    case Description::unreadable: return {};
    case Description::none:
      return returns_from_signal(object, address + 1) ? UnwindRule{}
                                                      : UnwindRule{.end = UnwindRule::FrameEnd::outermost};
    case Description::found: break;
  }
  CallFrameProgram program(description, address);
  if (description.is_signal_frame || !program.run()) return {};
  const Row& row = program.row();
  if (row.saved_return_address.how == SavedRegister::How::undefined) return {.end = UnwindRule::FrameEnd::outermost};
  const bool is_pushed_by_call = row.saved_return_address.how == SavedRegister::How::at_offset &&
                                 row.saved_return_address.offset == -8 &&
                                 row.saved_rsp.how == SavedRegister::How::unchanged;
  UnwindRule rule;
  return is_pushed_by_call && set_end(row, rule) && set_rbp(row.saved_rbp, rule) ? rule : UnwindRule{};
}

}  // namespace gpumem
