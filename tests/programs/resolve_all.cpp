// What both ABIs of cuGetProcAddress answer for names × versions × flags: resolve_all NAMES VERSIONS EXPORTS
//
// Reads each list from a file, one entry a line. Prints each answer once for the run of versions that share it: ABI,
// name, flags, first version, code, query result, and whose the pointer is: the export for which dlsym gives the same
// pointer, and the file that it lies in. The last line counts the look-ups.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Resolver = int (*)(const char*, void**, int, std::uint64_t);
using ResolverWithResult = int (*)(const char*, void**, int, std::uint64_t, int*);

std::vector<std::string> lines_of(const char* file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// The listed exports are recognised by what dlsym gives for them, and so also where that is not the export itself.
class Owners {
 public:
  Owners(void* library, const std::vector<std::string>& exports) {
    for (const auto& name : exports) {
      const void* found = dlsym(library, name.c_str());
      if (found == nullptr) continue;
      auto& names = names_[found];
      names += (names.empty() ? "" : "=") + name;
    }
  }
  const std::string& of(const void* pointer) {
    const auto [entry, is_new] = texts_.try_emplace(pointer);
    if (is_new) entry->second = describe(pointer);
    return entry->second;
  }

 private:
  std::string describe(const void* pointer) const {
    Dl_info info{};
    if (pointer == nullptr) return "NULL -";
    if (!dladdr(pointer, &info)) return "no-file -";
    const auto known = names_.find(pointer);
    if (known != names_.end()) return known->second + " " + file_name(info.dli_fname);
    const bool is_export = info.dli_sname != nullptr && info.dli_saddr == pointer;
    return (is_export ? info.dli_sname : "no-export") + std::string(" ") + file_name(info.dli_fname);
  }

  std::map<const void*, std::string> names_, texts_;
};

class Questions {
 public:
  Questions(void* library, Owners owners)
      : owners_(std::move(owners)),
        plain_(reinterpret_cast<Resolver>(dlsym(library, "cuGetProcAddress"))),
        with_result_(reinterpret_cast<ResolverWithResult>(dlsym(library, "cuGetProcAddress_v2"))) {}

  void ask(const std::string& name, const std::vector<std::string>& versions, unsigned flags) {
    std::string last_plain, last_with_result;
    for (const auto& version : versions) {
      const int number = std::stoi(version);
      report("cuGetProcAddress", name, version, flags, answer(name, number, flags), last_plain);
      report("cuGetProcAddress_v2", name, version, flags, answer_with_result(name, number, flags), last_with_result);
    }
  }
  int asked() const { return asked_; }

 private:
  std::string answer(const std::string& name, int version, unsigned flags) {
    void* found = nullptr;
    const int code = plain_(name.c_str(), &found, version, flags);
    return std::to_string(code) + " - " + owners_.of(found);
  }
  std::string answer_with_result(const std::string& name, int version, unsigned flags) {
    void* found = nullptr;
    int result = -1;
    const int code = with_result_(name.c_str(), &found, version, flags, &result);
    return std::to_string(code) + " " + std::to_string(result) + " " + owners_.of(found);
  }
  void report(const char* abi, const std::string& name, const std::string& version, unsigned flags,
              const std::string& answered, std::string& last) {
    ++asked_;
    if (answered == last) return;
    last = answered;
    std::printf("%s %s %u %s %s\n", abi, name.empty() ? "\"\"" : name.c_str(), flags, version.c_str(),
                answered.c_str());
  }

  Owners owners_;
  Resolver plain_;
  ResolverWithResult with_result_;
  int asked_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (argc != 4 || library == nullptr) return 2;
  const auto versions = lines_of(argv[2]);
  Questions questions(library, Owners(library, lines_of(argv[3])));
  for (const auto& name : lines_of(argv[1]))
    for (unsigned flags : {0u, 1u, 2u}) questions.ask(name, versions, flags);
  std::printf("%d look-ups\n", questions.asked());
}
