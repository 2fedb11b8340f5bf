#include "record/probe_program.hpp"

#include <cstring>
#include <string_view>

#include <sys/auxv.h>
#include <unistd.h>

#include "api/settings.hpp"
#include "base/loaded_objects.hpp"
#include "base/mapped_file.hpp"

namespace gpumem {
namespace {

// Without its last part: "/lib/x.so" becomes "/lib", and that "".
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

bool is_program_in(std::string_view folder, std::string_view name, char* path, std::size_t capacity) {
  if (folder.size() + name.size() >= capacity) return false;
  std::memcpy(path, folder.data(), folder.size());
  std::memcpy(path + folder.size(), name.data(), name.size());
  path[folder.size() + name.size()] = '\0';
  return access(path, X_OK) == 0;
}

// The kernel's name for the library, where that can be read: the loader's may be relative to a folder that the program
// has left.
std::string_view own_path(char* buffer, std::size_t capacity) {
  const LoadedObject self = this_object();
  if (const std::size_t length = mapped_file(self.lo & -getauxval(AT_PAGESZ), buffer, capacity); length != 0)
    return {buffer, length};
  LoadedObject known;
  return find_object(self.lo, known) ? known.path : "";
}

}  // namespace

bool find_probe_program(ProbeProgram& program) {
  constexpr std::size_t capacity = sizeof program.path;
  if (const char* chosen = settings().probe; chosen[0] != '\0') {
    std::strncpy(program.path, chosen, capacity - 1);
    return true;
  }
  char buffer[capacity];
  const std::string_view folder = folder_of(own_path(buffer, capacity));
  return is_program_in(folder, "/gpumem", program.path, capacity) ||
         is_program_in(folder_of(folder), "/bin/gpumem", program.path, capacity);
}

}  // namespace gpumem
