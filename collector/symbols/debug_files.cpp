#include "symbols/debug_files.hpp"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <elfutils/libdwelf.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "model/sidecar.hpp"

namespace gpumem {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_linked_file = std::uint64_t{4} << 30;

bool is_hexadecimal(const std::string& text) {
  return text.size() > 2 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool has_checksum(const fs::path& file, GElf_Word expected) {
  const auto bytes = read_sidecar(file, largest_linked_file);
  return bytes && ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes->data()), bytes->size()) == expected;
}

}  // namespace

// Opened only when it is needed, for it brings a whole HTTP client along.
class DebugFiles::Server {
 public:
  explicit Server(TimeBudget& budget) {
    void* library = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const auto begin = get<decltype(&::debuginfod_begin)>(library, "debuginfod_begin");
    const auto watch = get<decltype(&::debuginfod_set_progressfn)>(library, "debuginfod_set_progressfn");
    const auto mark = get<decltype(&::debuginfod_set_user_data)>(library, "debuginfod_set_user_data");
    get_user_data = get<decltype(&::debuginfod_get_user_data)>(library, "debuginfod_get_user_data");
    end_ = get<decltype(&::debuginfod_end)>(library, "debuginfod_end");
    find_ = get<decltype(&::debuginfod_find_debuginfo)>(library, "debuginfod_find_debuginfo");
    if (!begin || !watch || !mark || !get_user_data || !end_ || !find_) return;
    client_ = begin();
    if (!client_) return;
    mark(client_, &budget);
    watch(client_, [](debuginfod_client* client, long, long) {
      return static_cast<TimeBudget*>(get_user_data(client))->is_used_up() ? 1 : 0;
    });
  }
  ~Server() {
    if (client_) end_(client_);
  }

  std::unique_ptr<ElfImage> find(const std::string& build_id) {
    if (!client_) return nullptr;
    char* path = nullptr;
    const int descriptor = find_(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
    if (descriptor < 0) return nullptr;
    ::close(descriptor);
    auto image = ElfImage::open(path);
    std::free(path);
    return image;
  }

 private:
  template <class Function>
  static Function get(void* library, const char* name) {
    return reinterpret_cast<Function>(::dlsym(library, name));
  }

  static inline decltype(&::debuginfod_get_user_data) get_user_data = nullptr;
  decltype(&::debuginfod_end) end_ = nullptr;
  decltype(&::debuginfod_find_debuginfo) find_ = nullptr;
  debuginfod_client* client_ = nullptr;
};

DebugFiles::DebugFiles(std::string folder, TimeBudget& budget) : folder_(std::move(folder)), budget_(budget) {}
DebugFiles::~DebugFiles() = default;

std::unique_ptr<ElfImage> DebugFiles::by_build_id(const std::string& build_id) const {
  if (!is_hexadecimal(build_id)) return nullptr;
  auto image = ElfImage::open(folder_ + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug");
  return image && image->build_id() == build_id ? std::move(image) : nullptr;
}

std::unique_ptr<ElfImage> DebugFiles::from_server(const std::string& build_id) {
  const char* servers = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
  if (!is_hexadecimal(build_id) || !servers || !*servers || budget_.is_used_up()) return nullptr;
  if (!server_) server_ = std::make_unique<Server>(budget_);
  auto image = server_->find(build_id);
  return image && image->build_id() == build_id ? std::move(image) : nullptr;
}

std::unique_ptr<ElfImage> DebugFiles::by_link(const std::string& path, const ElfImage& image) const {
  GElf_Word checksum = 0;
  const char* name = dwelf_elf_gnu_debuglink(image.handle(), &checksum);
  if (!name || !*name || std::string_view(name).find('/') != std::string_view::npos) return nullptr;
  const fs::path folder = fs::path(path).parent_path();
  for (const auto& place : {folder / name, folder / ".debug" / name, fs::path(folder_ + folder.string()) / name}) {
    auto found = place == path ? nullptr : ElfImage::open(place.string());
    if (!found) continue;
    const bool is_right =
        image.build_id().empty() ? has_checksum(place, checksum) : found->build_id() == image.build_id();
    if (is_right) return found;
  }
  return nullptr;
}

}  // namespace gpumem
