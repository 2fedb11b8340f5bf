#include "stack/module_table.hpp"

#include <cstring>

#include <sys/auxv.h>
#include <unistd.h>

#include "base/mapped_file.hpp"
#include "base/pages.hpp"

namespace gpumem {
namespace {

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

Module* ModuleTable::find(std::uintptr_t address, std::uint64_t generation) {
  for (std::size_t i = count_.load(std::memory_order_acquire); i-- > 0;) {
    Module* module = modules_[i].load(std::memory_order_relaxed);
    if (address >= module->lo && address < module->hi && module->since <= generation &&
        generation < module->gone.load(std::memory_order_relaxed))
      return module;
  }
  return find(address);
}

void ModuleTable::add(const LoadedObject& object, const unsigned char* build_id, std::size_t build_id_size,
                      unsigned update, std::uint64_t removed) {
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
  module->since = removed;
  module->gone.store(~std::uint64_t{0}, std::memory_order_relaxed);
  module->seen_by.store(update, std::memory_order_relaxed);
  module->build_id_size = build_id_size;
  std::memcpy(module->build_id.data(), build_id, build_id_size);
  modules_[count].store(module, std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
}

bool ModuleTable::add_from(const Listing& listing, unsigned update, std::uint64_t removed) {
  LockGuard guard(lock_);
  for (std::size_t i = 0; i < listing.count; ++i) {
    const Listing::Entry& entry = listing.entries[i];
    Module* known = find(entry.object.lo);
    const bool same = known != nullptr && known->base == entry.object.base && known->hi == entry.object.hi &&
                      (entry.object.path[0] == '\0' || std::strcmp(known->path, entry.object.path) == 0);
    if (same && known->seen_by.load(std::memory_order_relaxed) < update)
      known->seen_by.store(update, std::memory_order_relaxed);
    if (!same) add(entry.object, entry.build_id, entry.build_id_size, update, removed);
  }
  return listing.complete;
}

void ModuleTable::update() {
  const LoadCounters counters = load_counters();
  if (counters.added == seen_added_.load(std::memory_order_acquire) &&
      counters.removed == seen_removed_.load(std::memory_order_acquire))
    return;
  const Pages pages(sizeof(Listing));
  if (!pages) return;
  auto* listing = reinterpret_cast<Listing*>(pages.begin());
  const unsigned update = updates_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::size_t skip = 0;
  bool complete;
  do {
    listing->collect(skip);
    skip += listing->count;
    complete = add_from(*listing, update, counters.removed);
  } while (!complete && listing->count != 0);
  for (std::size_t i = complete ? count_.load(std::memory_order_acquire) : 0; i-- > 0;) {
    Module* module = modules_[i].load(std::memory_order_relaxed);
    std::uint64_t here = ~std::uint64_t{0};
    if (module->seen_by.load(std::memory_order_relaxed) < update)
      module->gone.compare_exchange_strong(here, counters.removed, std::memory_order_relaxed);
  }
  seen_removed_.store(counters.removed, std::memory_order_release);
  seen_added_.store(counters.added, std::memory_order_release);
}

}  // namespace gpumem
