#include "stack/module_table.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gpumem {
namespace {

// The file whose mapping begins at `address`, from lines such as "7f00-7f10 r--p 0 fe:00 1  /lib/libc.so.6".
std::size_t mapped_file(std::uintptr_t address, char* path, std::size_t capacity) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return 0;
  std::uintptr_t begin = 0;
  bool in_begin = true, found = false;
  std::size_t length = 0;
  char piece[1024];
  for (ssize_t got; !found && (got = read(maps, piece, sizeof piece)) > 0;) {
    for (const char* c = piece; !found && c != piece + got; ++c) {
      if (*c == '\n') {
        found = begin == address;
        begin = 0;
        in_begin = true;
      } else if (in_begin && *c != '-') {
        begin = begin * 16 + static_cast<unsigned>(*c <= '9' ? *c - '0' : *c - 'a' + 10);
      } else {
        in_begin = false;
        if (begin == address && (length != 0 || *c == '/') && length < capacity) path[length++] = *c;
      }
    }
  }
  close(maps);
  return length;
}

// What the loader calls "" is the executable, or the kernel's own library. A process without an interpreter has been
// started as "ld.so PROGRAM", and its executable is the loader.
std::size_t program_path(const LoadedObject& program, char* path, std::size_t capacity) {
  if (getauxval(AT_BASE) == 0) return mapped_file(program.lo & -getauxval(AT_PAGESZ), path, capacity);
  const ssize_t length = readlink("/proc/self/exe", path, capacity);
  return length < 0 ? 0 : static_cast<std::size_t>(length);
}

}  // namespace

// What one walk of the loader's list found: copied under the loader's lock, looked at without it, since another thread
// may hold our lock and want the loader's.
struct ModuleTable::Listing {
  static constexpr std::size_t capacity = 256;
  static constexpr std::size_t text_capacity = 64 * 1024;

  struct Entry {
    LoadedObject object;
    unsigned char build_id[sizeof Module::build_id];
    std::size_t build_id_size;
  };

  std::size_t count, text_used;
  bool complete;
  Entry entries[capacity];
  char text[text_capacity];

  // Takes the objects from number `skip` on, as many as fit.
  void collect(std::size_t skip) {
    count = text_used = 0;
    std::size_t seen = 0;
    complete = !any_object([&](const LoadedObject& object) {
      if (seen++ < skip) return false;
      const std::size_t length = std::strlen(object.path) + 1;
      if (count == capacity || text_used + length > text_capacity) return true;
      Entry& entry = entries[count++];
      entry.object = object;
      entry.object.path = text + text_used;
      std::memcpy(text + text_used, object.path, length);
      text_used += length;
      const unsigned char* id = nullptr;
      entry.build_id_size = object.build_id(id);
      if (entry.build_id_size > sizeof entry.build_id) entry.build_id_size = sizeof entry.build_id;
      if (entry.build_id_size != 0) std::memcpy(entry.build_id, id, entry.build_id_size);
      return false;
    });
  }
};

// Newest first: what was mapped there before has gone.
Module* ModuleTable::find(std::uintptr_t address) {
  for (std::size_t i = count_.load(std::memory_order_acquire); i-- > 0;) {
    Module* module = modules_[i].load(std::memory_order_relaxed);
    if (address >= module->lo && address < module->hi) return module;
  }
  return nullptr;
}

void ModuleTable::add(const LoadedObject& object, const unsigned char* build_id, std::size_t build_id_size) {
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count == capacity) return;
  char program[4096];
  const char* path = object.path;
  std::size_t length = std::strlen(path);
  if (length == 0 && count == 0) {
    length = program_path(object, program, sizeof program);
    path = program;
  }
  auto* module = static_cast<Module*>(arena_.take(sizeof(Module)));
  auto* copy = static_cast<char*>(arena_.take(length + 1));
  if (module == nullptr || copy == nullptr) return;
  std::memcpy(copy, path, length);
  module->number = static_cast<std::uint32_t>(count + 1);
  module->path = copy;
  module->base = object.base;
  module->lo = object.lo;
  module->hi = object.hi;
  module->build_id_size = build_id_size;
  std::memcpy(module->build_id.data(), build_id, build_id_size);
  modules_[count].store(module, std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
}

bool ModuleTable::add_from(const Listing& listing) {
  LockGuard guard(lock_);
  for (std::size_t i = 0; i < listing.count; ++i) {
    const Listing::Entry& entry = listing.entries[i];
    const Module* known = find(entry.object.lo);
    const bool same = known != nullptr && known->base == entry.object.base && known->hi == entry.object.hi &&
                      (entry.object.path[0] == '\0' || std::strcmp(known->path, entry.object.path) == 0);
    if (!same) add(entry.object, entry.build_id, entry.build_id_size);
  }
  return listing.complete;
}

void ModuleTable::update() {
  const LoadCounters counters = load_counters();
  if (counters.added == seen_added_.load(std::memory_order_acquire) &&
      counters.removed == seen_removed_.load(std::memory_order_acquire))
    return;
  void* pages = mmap(nullptr, sizeof(Listing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  auto* listing = static_cast<Listing*>(pages);
  std::size_t skip = 0;
  do {
    listing->collect(skip);
    skip += listing->count;
  } while (!add_from(*listing) && listing->count != 0);
  munmap(pages, sizeof(Listing));
  seen_removed_.store(counters.removed, std::memory_order_release);
  seen_added_.store(counters.added, std::memory_order_release);
}

}  // namespace gpumem
