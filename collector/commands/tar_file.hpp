// Writes a .tar.gz (POSIX ustar), one file after the other.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

namespace gpumem {

class TarFile {
 public:
  // A new file, mode 0600. Throws error where there is one already, or where none can be made.
  explicit TarFile(const std::filesystem::path& path);
  ~TarFile();  // without finish() the file is removed
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;

  // The content from its beginning to its end. Throws error.
  void add(const std::string& name, std::FILE* content);
  void add(const std::string& name, const std::string& content);
  void finish();

 private:
  void add_head(const std::string& name, std::uint64_t size);
  void add_padding(std::uint64_t size);
  void write(const void* bytes, std::size_t size);
  [[noreturn]] void fail();

  std::filesystem::path path_;
  gzFile file_ = nullptr;
};

}  // namespace gpumem
