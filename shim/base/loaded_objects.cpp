#include "base/loaded_objects.hpp"

#include <cstring>

#include <elf.h>
#include <link.h>

#include "base/loader_list.hpp"

extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));

namespace gpumem {
namespace {

const ElfW(Phdr) * headers(const LoadedObject& object) {
  return static_cast<const ElfW(Phdr)*>(object.program_headers);
}

LoadedObject describe(std::uintptr_t base, const char* path, const ElfW(Phdr) * phdr, std::size_t count) {
  LoadedObject object{.path = path ? path : "",
                      .base = base,
                      .lo = ~std::uintptr_t{0},
                      .program_headers = phdr,
                      .program_header_count = count};
  for (std::size_t i = 0; i < count; ++i) {
    if (phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t first = base + phdr[i].p_vaddr;
    if (first < object.lo) object.lo = first;
    if (first + phdr[i].p_memsz > object.hi) object.hi = first + phdr[i].p_memsz;
  }
  return object;
}

// What the dynamic section says. glibc relocates its pointers in place, except in read-only sections.
struct Dynamic {
  explicit Dynamic(const LoadedObject& object) : object_(object) {
    const ElfW(Dyn)* entry = nullptr;
    for (std::size_t i = 0; i < object.program_header_count; ++i)
      if (headers(object)[i].p_type == PT_DYNAMIC)
        entry = reinterpret_cast<const ElfW(Dyn)*>(object.base + headers(object)[i].p_vaddr);
    entries = entry;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address(entry)); break;
        case DT_STRTAB: strings = reinterpret_cast<const char*>(address(entry)); break;
        case DT_GNU_HASH: gnu_hash = reinterpret_cast<const std::uint32_t*>(address(entry)); break;
        case DT_HASH: sysv_hash = reinterpret_cast<const std::uint32_t*>(address(entry)); break;
        case DT_SONAME: soname_offset = entry->d_un.d_val; break;
        default: break;
      }
    }
  }

  std::uintptr_t address(const ElfW(Dyn) * entry) const {
    const std::uintptr_t value = entry->d_un.d_ptr;
    return value < object_.base ? object_.base + value : value;
  }

  const ElfW(Dyn) * entries = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* sysv_hash = nullptr;
  std::size_t soname_offset = 0;

 private:
  const LoadedObject& object_;
};

bool is_of_type(const ElfW(Sym) & symbol, unsigned char type) { return ELF64_ST_TYPE(symbol.st_info) == type; }

bool defines(const Dynamic& dynamic, std::uint32_t index, const char* name) {
  const ElfW(Sym)& symbol = dynamic.symbols[index];
  return symbol.st_shndx != SHN_UNDEF && (is_of_type(symbol, STT_FUNC) || is_of_type(symbol, STT_OBJECT)) &&
         std::strcmp(dynamic.strings + symbol.st_name, name) == 0;
}

std::uint32_t find_by_gnu_hash(const Dynamic& dynamic, const char* name) {
  const std::uint32_t buckets = dynamic.gnu_hash[0], first = dynamic.gnu_hash[1], words = dynamic.gnu_hash[2];
  if (buckets == 0) return 0;
  const auto* bucket = dynamic.gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const auto* chain = bucket + buckets;
  std::uint32_t hash = 5381;
  for (const char* c = name; *c; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  for (std::uint32_t index = bucket[hash % buckets]; index >= first && index != 0; ++index) {
    const std::uint32_t stored = chain[index - first];
    if ((stored | 1) == (hash | 1) && defines(dynamic, index, name)) return index;
    if (stored & 1) break;
  }
  return 0;
}

std::uint32_t find_by_sysv_hash(const Dynamic& dynamic, const char* name) {
  const std::uint32_t buckets = dynamic.sysv_hash[0];
  if (buckets == 0) return 0;
  const auto* bucket = dynamic.sysv_hash + 2;
  const auto* chain = bucket + buckets;
  std::uint32_t hash = 0;
  for (const char* c = name; *c; ++c) {
    hash = (hash << 4) + static_cast<unsigned char>(*c);
    const std::uint32_t high = hash & 0xf0000000u;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  for (std::uint32_t index = bucket[hash % buckets]; index != 0; index = chain[index])
    if (defines(dynamic, index, name)) return index;
  return 0;
}

}  // namespace

namespace {

const ElfW(Sym) * find_symbol(const Dynamic& dynamic, const char* name) {
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr) return nullptr;
  std::uint32_t index = 0;
  if (dynamic.gnu_hash != nullptr) {
    index = find_by_gnu_hash(dynamic, name);
  } else if (dynamic.sysv_hash != nullptr) {
    index = find_by_sysv_hash(dynamic, name);
  }
  return index == 0 ? nullptr : &dynamic.symbols[index];
}

}  // namespace

void* LoadedObject::exported_function(const char* name) const {
  const Dynamic dynamic(*this);
  const ElfW(Sym)* symbol = find_symbol(dynamic, name);
  return symbol != nullptr && is_of_type(*symbol, STT_FUNC) ? reinterpret_cast<void*>(base + symbol->st_value)
                                                            : nullptr;
}

MemoryRange LoadedObject::exported_range(const char* name) const {
  const Dynamic dynamic(*this);
  const ElfW(Sym)* symbol = find_symbol(dynamic, name);
  if (symbol == nullptr) return {};
  return {base + symbol->st_value, base + symbol->st_value + symbol->st_size};
}

const char* LoadedObject::soname() const {
  const Dynamic dynamic(*this);
  return dynamic.strings != nullptr && dynamic.soname_offset != 0 ? dynamic.strings + dynamic.soname_offset : "";
}

bool LoadedObject::needs(const LoadedObject& other) const {
  const char* soname = other.soname();
  if (soname[0] != '\0') return needs(soname);
  const char* slash = std::strrchr(other.path, '/');
  return other.path[0] != '\0' && (needs(other.path) || (slash != nullptr && needs(slash + 1)));
}

bool LoadedObject::needs(const char* name) const {
  const Dynamic dynamic(*this);
  if (dynamic.strings == nullptr) return false;
  for (const ElfW(Dyn)* entry = dynamic.entries; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && std::strcmp(dynamic.strings + entry->d_un.d_val, name) == 0) return true;
  return false;
}

namespace {

// The loader reads no notes, so a file whose note is not in what is mapped loads well.
bool is_mapped(const LoadedObject& object, const ElfW(Phdr) & part) {
  for (std::size_t i = 0; i < object.program_header_count; ++i) {
    const ElfW(Phdr)& load = headers(object)[i];
    if (load.p_type == PT_LOAD && (load.p_flags & PF_R) != 0 && part.p_vaddr >= load.p_vaddr &&
        part.p_memsz <= load.p_filesz && part.p_vaddr - load.p_vaddr <= load.p_filesz - part.p_memsz)
      return true;
  }
  return false;
}

}  // namespace

std::size_t LoadedObject::build_id(const unsigned char*& bytes) const {
  for (std::size_t i = 0; i < program_header_count; ++i) {
    if (headers(*this)[i].p_type != PT_NOTE || !is_mapped(*this, headers(*this)[i])) continue;
    const char* note = reinterpret_cast<const char*>(base + headers(*this)[i].p_vaddr);
    const char* end = note + headers(*this)[i].p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const auto* header = reinterpret_cast<const ElfW(Nhdr)*>(note);
      const std::size_t left = static_cast<std::size_t>(end - note) - sizeof(*header);
      if (header->n_namesz > left || header->n_descsz > left - header->n_namesz) break;
      const char* name = note + sizeof(*header);
      const char* content = name + ((header->n_namesz + 3) & ~3u);
      if (content + header->n_descsz > end) break;
      if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        bytes = reinterpret_cast<const unsigned char*>(content);
        return header->n_descsz;
      }
      note = content + ((header->n_descsz + 3) & ~3u);
    }
  }
  return 0;
}

LoadedObject this_object() {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(__ehdr_start);
  const auto base = reinterpret_cast<std::uintptr_t>(__ehdr_start);
  return describe(base, "", reinterpret_cast<const ElfW(Phdr)*>(__ehdr_start + header->e_phoff), header->e_phnum);
}

namespace detail {

bool walk_objects(Visitor visitor, void* data) {
  struct Walk {
    Visitor visitor;
    void* data;
    std::size_t number;
  } state{visitor, data, 0};
  return walk_loader_list(
             [](dl_phdr_info* info, std::size_t, void* opaque) {
               auto* s = static_cast<Walk*>(opaque);
               LoadedObject object = describe(info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum);
               object.number = s->number++;
               return s->visitor(object, s->data) ? 1 : 0;
             },
             &state) != 0;
}

}  // namespace detail

bool find_object(std::uintptr_t address, LoadedObject& found) {
  return any_object([&](const LoadedObject& object) {
    if (!object.contains(address)) return false;
    found = object;
    return true;
  });
}

}  // namespace gpumem
