#include "commands/tar_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "model/error.hpp"

namespace gpumem {
namespace {

constexpr std::size_t block = 512;

struct Head {
  char name[100], mode[8], uid[8], gid[8], size[12], time[12], checksum[8], type, link[100], magic[6], version[2],
      user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
static_assert(sizeof(Head) == block);

}  // namespace

TarFile::TarFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) throw Error(path.string() + " cannot be made: " + std::strerror(errno) + ".");
  file_ = ::gzdopen(descriptor, "wb");
  if (file_) return;
  ::close(descriptor);
  fail();
}

TarFile::~TarFile() {
  if (!file_) return;
  ::gzclose(file_);
  ::unlink(path_.c_str());
}

void TarFile::add(const std::string& name, std::FILE* content) {
  std::fseek(content, 0, SEEK_END);
  const auto size = static_cast<std::uint64_t>(std::ftell(content));
  std::rewind(content);
  add_head(name, size);
  std::vector<char> piece(1u << 16);
  for (std::size_t got; (got = std::fread(piece.data(), 1, piece.size(), content)) > 0;) write(piece.data(), got);
  add_padding(size);
}

void TarFile::add(const std::string& name, const std::string& content) {
  add_head(name, content.size());
  write(content.data(), content.size());
  add_padding(content.size());
}

void TarFile::finish() {
  const std::string end(2 * block, '\0');
  write(end.data(), end.size());
  if (::gzclose(std::exchange(file_, nullptr)) != Z_OK) fail();
}

void TarFile::add_head(const std::string& name, std::uint64_t size) {
  Head head{};
  if (name.size() > sizeof head.name) throw Error(name + " is too long a name for the bundle.");
  std::memcpy(head.name, name.data(), name.size());
  std::snprintf(head.mode, sizeof head.mode, "%07o", 0600);
  std::snprintf(head.uid, sizeof head.uid, "%07o", 0);
  std::snprintf(head.gid, sizeof head.gid, "%07o", 0);
  std::snprintf(head.size, sizeof head.size, "%011llo", static_cast<unsigned long long>(size));
  std::snprintf(head.time, sizeof head.time, "%011llo", static_cast<unsigned long long>(std::time(nullptr)));
  head.type = '0';
  std::memcpy(head.magic, "ustar", 6);
  std::memcpy(head.version, "00", 2);
  std::memset(head.checksum, ' ', sizeof head.checksum);
  unsigned sum = 0;
  for (const char c : std::string_view(reinterpret_cast<const char*>(&head), sizeof head)) {
    sum += static_cast<unsigned char>(c);
  }
  std::snprintf(head.checksum, sizeof head.checksum, "%06o", sum);
  write(&head, sizeof head);
}

void TarFile::add_padding(std::uint64_t size) {
  const std::string rest((block - size % block) % block, '\0');
  write(rest.data(), rest.size());
}

void TarFile::write(const void* bytes, std::size_t size) {
  if (size > 0 && ::gzfwrite(bytes, 1, size, file_) != size) fail();
}

void TarFile::fail() {
  const int error_number = errno;
  if (file_) ::gzclose(std::exchange(file_, nullptr));
  ::unlink(path_.c_str());
  throw Error(path_.string() + " cannot be written: " + std::strerror(error_number) + ".");
}

}  // namespace gpumem
