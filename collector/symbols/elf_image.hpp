// One ELF file, opened for names: its build-id, its functions by address, its debug information.
//
// Whatever the file contains, nothing is thrown and nothing is executed from it; what cannot be read is absent.
// Names come from an own table sorted by address: asking libdw for each address scans all symbols every time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Elf;

namespace gpumem {

struct FunctionSymbol {
  std::uint64_t low = 0;   // ELF virtual addresses
  std::uint64_t high = 0;  // first address after it
  const char* name = nullptr;
};

class ElfImage {
 public:
  // Nothing where the file is missing, no regular file, or no ELF file.
  static std::unique_ptr<ElfImage> open(const std::string& path);
  ~ElfImage();
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  const std::vector<FunctionSymbol>& functions() const { return functions_; }  // sorted by address
  const std::string& build_id() const { return build_id_; }    // hexadecimal, empty where the file has none
  bool has_symbol_table() const { return has_symbol_table_; }  // .symtab, which a stripped file lacks
  bool has_debug_lines() const { return has_debug_lines_; }

  // The function that holds the address, mangled; nothing where none does.
  std::optional<std::string_view> function_at(std::uint64_t address) const;

  Elf* handle() const { return elf_; }

 private:
  ElfImage(int descriptor, Elf* elf);
  void read_sections();
  void read_symbols(unsigned table_type);

  int descriptor_;
  Elf* elf_;
  std::string build_id_;
  bool has_symbol_table_ = false;
  bool has_debug_lines_ = false;
  std::vector<FunctionSymbol> functions_;  // sorted by low
};

std::string hexadecimal(const unsigned char* bytes, std::size_t count);

}  // namespace gpumem
