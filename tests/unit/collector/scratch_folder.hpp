// A folder of a test's own, gone afterwards; and journals to put into it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gpumem {

class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gpumem-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const std::string process_line =
    R"({"t":"process","ns":0,"tid":7,"schema":1,"wall_ns":1,"pid":7,"ppid":1,"host":"elsewhere","start":5,"n":0,"argv":["a"]})"
    "\n";

inline std::string alloc_line(int block, int bytes) {
  return R"({"t":"event","ns":)" + std::to_string(10 + block) + R"(,"tid":7,"op":"alloc","api":"cudaMalloc","i":)" +
         std::to_string(block) + R"(,"k":"device","p":"0x)" + std::to_string(1000 + block) + R"(","n":)" +
         std::to_string(bytes) + R"(,"d":0,"c":1,"s":0})" + "\n";
}

}  // namespace gpumem
