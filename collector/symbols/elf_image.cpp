#include "symbols/elf_image.hpp"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

namespace gpumem {
std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

std::unique_ptr<ElfImage> ElfImage::open(const std::string& path) {
  elf_version(EV_CURRENT);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  struct stat status {};
  Elf* elf = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
                 ? elf_begin(descriptor, ELF_C_READ_MMAP, nullptr)
                 : nullptr;
  if (!elf || elf_kind(elf) != ELF_K_ELF) {
    if (elf) elf_end(elf);
    ::close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<ElfImage>(new ElfImage(descriptor, elf));
}

ElfImage::ElfImage(int descriptor, Elf* elf) : descriptor_(descriptor), elf_(elf) {
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf_, &id);
  if (size > 0) build_id_ = hexadecimal(static_cast<const unsigned char*>(id), static_cast<std::size_t>(size));
  read_sections();
}

ElfImage::~ElfImage() {
  elf_end(elf_);
  ::close(descriptor_);
}

void ElfImage::read_sections() {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_, names, header.sh_name);
    if (name && std::string_view(name).ends_with("debug_info")) has_debug_lines_ = true;
    if (header.sh_type == SHT_SYMTAB) has_symbol_table_ = true;
  }
  read_symbols(has_symbol_table_ ? SHT_SYMTAB : SHT_DYNSYM);
  // Of several names for one address the one with a size comes first: it says where the function ends.
  std::sort(functions_.begin(), functions_.end(), [](const FunctionSymbol& a, const FunctionSymbol& b) {
    return std::tuple(a.low, b.high) < std::tuple(b.low, a.high);
  });
  functions_.erase(
      std::unique(functions_.begin(), functions_.end(), [](const auto& a, const auto& b) { return a.low == b.low; }),
      functions_.end());
}

void ElfImage::read_symbols(unsigned table_type) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != table_type || header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (!data) continue;
    const std::size_t count = data->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count && i <= 0x7fffffff; ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
      const auto type = GELF_ST_TYPE(symbol.st_info);
      const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if (!is_function || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
      const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
      const std::uint64_t high = symbol.st_value + symbol.st_size;
      if (name && *name && high >= symbol.st_value) functions_.push_back({symbol.st_value, high, name});
    }
  }
}

std::optional<std::string_view> ElfImage::function_at(std::uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](std::uint64_t value, const FunctionSymbol& symbol) { return value < symbol.low; });
  if (after == functions_.begin()) return std::nullopt;
  const FunctionSymbol& symbol = *std::prev(after);
  // Hand-written assembly often has no size; its function then reaches to the next symbol.
  const bool is_inside = address < symbol.high || symbol.low == symbol.high;
  return is_inside ? std::optional<std::string_view>(symbol.name) : std::nullopt;
}

}  // namespace gpumem
