// A folder that stands for "/".
#pragma once

#include <string>

#include "scratch_folder.hpp"

namespace gpumem::test {

class MadeUpRoot : public ScratchFolder {
 public:
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((*this / name).parent_path());
    write(name, text);
  }
  void link(const std::string& name, const std::string& target) const {
    std::filesystem::create_directories((*this / name).parent_path());
    std::filesystem::create_symlink(target, *this / name);
  }
};

}  // namespace gpumem::test
