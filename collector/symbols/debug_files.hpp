// Where the debug information of a stripped file lies: separate files on this machine, or a debuginfod server.
#pragma once

#include <memory>
#include <string>

#include "symbols/elf_image.hpp"
#include "symbols/time_budget.hpp"

namespace gpumem {

class DebugFiles {
 public:
  // `folder` is what /usr/lib/debug is on a system. `budget` must outlive this. A server is asked only where
  // DEBUGINFOD_URLS names one.
  DebugFiles(std::string folder, TimeBudget& budget);
  ~DebugFiles();

  // The file with this build-id; nothing where there is none.
  std::unique_ptr<ElfImage> by_build_id(const std::string& build_id) const;
  std::unique_ptr<ElfImage> from_server(const std::string& build_id);

  // The file that `image`, which lies at `path`, names in its .gnu_debuglink, if it is the right one.
  std::unique_ptr<ElfImage> by_link(const std::string& path, const ElfImage& image) const;

 private:
  class Server;
  std::string folder_;
  TimeBudget& budget_;
  std::unique_ptr<Server> server_;
};

}  // namespace gpumem
