// Lines of journals, and folders to put them into.
#pragma once

#include <string>

#include "journal.hpp"
#include "scratch_folder.hpp"

namespace gpumem {

using test::read_text;
using test::ScratchFolder;

inline const std::string process_line =
    R"({"t":"process","ns":0,"tid":7,"schema":1,"wall_ns":1,"pid":7,"ppid":1,"host":"elsewhere","start":5,"n":0,"argv":["a"]})"
    "\n";

inline std::string alloc_line(int block, int bytes) {
  return R"({"t":"event","ns":)" + std::to_string(10 + block) + R"(,"tid":7,"op":"alloc","api":"cudaMalloc","i":)" +
         std::to_string(block) + R"(,"k":"device","p":"0x)" + std::to_string(1000 + block) + R"(","n":)" +
         std::to_string(bytes) + R"(,"d":0,"c":1,"s":0})" + "\n";
}

}  // namespace gpumem
