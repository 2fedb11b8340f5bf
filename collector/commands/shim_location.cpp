#include "commands/shim_location.hpp"

#include "model/error.hpp"

namespace gpumem {

std::filesystem::path find_shim() {
  namespace fs = std::filesystem;
  constexpr const char* name = "libgpumemshim.so";
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& candidate : {here / name, here.parent_path() / "lib" / name}) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  }
  throw Error(std::string(name) + " is neither in " + here.string() + " nor in " +
              (here.parent_path() / "lib").string() + "; put it beside the gpumem executable.");
}

}  // namespace gpumem
