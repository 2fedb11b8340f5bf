#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/shim_location.hpp"

namespace gpumem {

void add_path_command(CLI::App& app, CommandLine&) {
  app.add_subcommand("path", "Print the path of libgpumemshim.so, for a plain LD_PRELOAD")->callback([] {
    write_out(1, find_shim().string() + "\n");
  });
}

}  // namespace gpumem
