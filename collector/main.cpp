#include <cstdio>
#include <exception>

#include "commands/commands.hpp"
#include "model/error.hpp"

int main(int argc, char** argv) {
  try {
    return gpumem::run_command_line(argc, argv);
  } catch (const gpumem::Error& trouble) {
    std::fprintf(stderr, "gpumem: %s\n", trouble.what());
  } catch (const std::exception& trouble) {
    std::fprintf(stderr, "gpumem: internal trouble, please report it: %s\n", trouble.what());
  }
  return gpumem::status_cannot_answer;
}
