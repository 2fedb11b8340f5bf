// Opens every file of a folder as a library, then uses CUDA: many_libraries FOLDER
#include <filesystem>

#include "driver_session.hpp"

int main(int argc, char** argv) {
  int opened = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argc > 1 ? argv[1] : "."))
    if (dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL)) ++opened;
  std::printf("opened %d\n", opened);
  session(driver_by_dlsym());
}
