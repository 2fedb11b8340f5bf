#include "stage.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

// The build passes what only it knows.
#ifndef GPUMEM_TEST_BUILD_FOLDER
#error "GPUMEM_TEST_BUILD_FOLDER, GPUMEM_TEST_SOURCE_FOLDER and GPUMEM_TEST_TOOLKIT_FOLDER come from the build"
#endif

namespace gpumem::test {
namespace {

bool wants_gpu() {
  static const bool wants = getenv("GPUMEM_TEST_GPU") != nullptr;
  return wants;
}

bool on_path(const std::string& name) {
  const auto outcome = run({{"sh", "-c", "command -v " + name}, plain_environment()});
  return outcome.status == 0;
}

std::string missing_file(const std::filesystem::path& file, const std::string& reason) {
  return std::filesystem::exists(file) ? std::string() : reason + ": there is no " + file.string();
}

std::string missing_toolkit() {
  return toolkit_folder().empty() ? "no CUDA toolkit: none is installed, and its wheels could not be fetched" : "";
}

}  // namespace

std::string missing(Need need) {
  switch (need) {
    case Need::driver: return wants_gpu() ? std::string() : missing(Need::simulated_driver);
    case Need::scripted_driver:
      return wants_gpu() ? "a real driver cannot be told what to answer" : missing(Need::simulated_driver);
    case Need::simulated_driver: return missing_file(simulated_folder() / "libcuda.so.1", "no simulated driver");
    case Need::runtime:
      if (const auto reason = missing_toolkit(); !reason.empty()) return reason;
      return wants_gpu() ? std::string() : missing_file(simulated_folder() / "libcudart.so.13", "no simulated runtime");
    case Need::genuine_runtime:
      if (const auto reason = missing_toolkit(); !reason.empty()) return reason;
      return missing_file(toolkit_folder() / "lib64/libcudart.so.13", "no genuine runtime library");
    case Need::nvcc: return missing_toolkit();
    case Need::python_clients: return missing_file(client_python(), "no Python clients, see scripts/clients");
    case Need::pycuda: return missing_file(build_folder() / "clients/pycuda/.made", "no PyCUDA, see scripts/clients");
    case Need::readelf: return on_path("readelf") ? "" : "no readelf (package binutils)";
  }
  return "unknown need";
}

void skipped(const std::string& reason) {
  std::cout << "SKIPPED: " << reason << std::endl;
  const auto name = Catch::getResultCapture().getCurrentTestName();
  if (const char* file = getenv("GPUMEM_SKIPPED")) std::ofstream(file, std::ios::app) << name + ": " + reason + "\n";
}

bool full() { return getenv("GPUMEM_FULL") != nullptr; }

std::filesystem::path shim() { return build_folder() / "libgpumemshim.so"; }
std::filesystem::path collector() { return build_folder() / "gpumem"; }
std::filesystem::path build_folder() { return GPUMEM_TEST_BUILD_FOLDER; }
std::filesystem::path toolkit_folder() { return GPUMEM_TEST_TOOLKIT_FOLDER; }
std::filesystem::path simulated_folder() { return build_folder() / "simcuda"; }
std::filesystem::path source_folder() { return GPUMEM_TEST_SOURCE_FOLDER; }
std::string program(const std::string& name) { return build_folder() / "tests/programs" / name; }
std::string python_program(const std::string& name) { return source_folder() / "tests/programs" / name; }
std::string demo() { return build_folder() / "demo"; }
std::string client_python() { return build_folder() / "clients/bin/python"; }

std::vector<std::string> listed_symbols(const std::string& file) {
  static const std::regex row(R"(^[A-Z]+_API\([^,]*,\s*(\w+)\s*,)");
  std::istringstream text(read_text(source_folder() / file));
  std::vector<std::string> symbols;
  std::smatch match;
  for (std::string line; std::getline(text, line);)
    if (std::regex_search(line, match, row)) symbols.push_back(match[1]);
  return symbols;
}

Stage::Stage(Cuda cuda) : environment_(plain_environment()) {
  std::string folders;
  if (cuda == Cuda::genuine_runtime_over_simulated_driver || wants_gpu())
    folders = (toolkit_folder() / "lib64").string();
  if (cuda != Cuda::none && !wants_gpu()) folders += (folders.empty() ? "" : ":") + simulated_folder().string();
  if (cuda != Cuda::none && !folders.empty()) environment_["LD_LIBRARY_PATH"] = folders;
}

Stage& Stage::script(const Line& text) {
  write_text(scratch_ / "simcuda.json", text.dump());
  return set("SIMCUDA_SCRIPT", scratch_ / "simcuda.json");
}

Stage& Stage::set(const std::string& name, const std::string& value) {
  environment_[name] = value;
  return *this;
}

Environment Stage::traced_environment() const {
  auto environment = environment_;
  auto& preload = environment["LD_PRELOAD"];
  preload = shim().string() + (preload.empty() ? "" : ":" + preload);
  environment.emplace("GPUMEM_DIR", journals());
  environment.emplace("GPUMEM_QUIET", "1");
  return environment;
}

Outcome Stage::run(Command command) const {
  if (command.folder.empty()) command.folder = folder();
  return test::run(command);
}

Outcome Stage::gpumem(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), collector());
  Environment environment = environment_;
  environment["XDG_CACHE_HOME"] = folder() / "cache";
  return run({std::move(arguments), std::move(environment)});
}

}  // namespace gpumem::test
