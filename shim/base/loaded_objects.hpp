// The ELF files that are mapped into this process, and what they export, read from memory.
//
// Nothing here calls dlsym, dladdr or dlopen: those change what dlerror() tells the program, and dladdr is slow.
// Walking takes the loader's lock (inside dl_iterate_phdr), so never walk while holding a lock of ours. A fork waits
// for walks to end, because glibc leaves that lock as it was in the child.
#pragma once

#include <cstddef>
#include <cstdint>

struct dl_phdr_info;

namespace gpumem {

struct MemoryRange {
  std::uintptr_t lo = 0, hi = 0;  // first address, first address after it
  bool contains(std::uintptr_t address) const { return address >= lo && address < hi; }
};

// One mapped ELF file. Pointers into it stay valid only while the file stays mapped.
struct LoadedObject {
  const char* path = "";          // as the loader knows it; "" for the executable
  std::uintptr_t base = 0;        // load bias
  std::uintptr_t lo = 0, hi = 0;  // first address, first address after it
  const void* program_headers = nullptr;
  std::size_t program_header_count = 0;

  bool contains(std::uintptr_t address) const { return address >= lo && address < hi; }

  // The address of an exported function, or nullptr. Symbol versions are not looked at.
  void* exported_function(const char* name) const;

  // Where an exported function or variable lies; empty where there is none of this name.
  MemoryRange exported_range(const char* name) const;

  // DT_SONAME, or "".
  const char* soname() const;

  // Its place in the loader's list.
  std::size_t number = 0;

  // Whether `name` is among its DT_NEEDED.
  bool needs(const char* name) const;

  // Whether it needs the other object, by that one's soname or, where it has none, by its file's name.
  bool needs(const LoadedObject& other) const;

  // Its GNU build-id; returns the number of bytes, 0 if it has none. `bytes` points into the object.
  std::size_t build_id(const unsigned char*& bytes) const;
};

// How often the loader has added and removed objects so far.
struct LoadCounters {
  std::uint64_t added = 0, removed = 0;
  bool operator==(const LoadCounters&) const = default;
};
LoadCounters load_counters();

// Objects that were there when this library was loaded belong to the program's global scope.
void remember_startup_objects();
bool was_loaded_at_startup(const LoadedObject& object);

// The object that this code itself is part of; found without walking.
LoadedObject this_object();

// Calls visit(const LoadedObject&) for each object in load order until it returns true. Returns whether it did.
// The loader's lock is held meanwhile: `visit` must not call into the loader nor take a lock of ours.
template <class Visit>
bool any_object(Visit&& visit);

namespace detail {
using Visitor = bool (*)(const LoadedObject&, void*);
bool walk_objects(Visitor visitor, void* data);
}  // namespace detail

template <class Visit>
bool any_object(Visit&& visit) {
  return detail::walk_objects(
      [](const LoadedObject& object, void* data) { return (*static_cast<Visit*>(data))(object); }, &visit);
}

// The object that contains `address`; false if none does.
bool find_object(std::uintptr_t address, LoadedObject& found);

}  // namespace gpumem
