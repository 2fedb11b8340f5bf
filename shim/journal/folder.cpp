#include "journal/folder.hpp"

#include <cerrno>
#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

#include "base/old_glibc.hpp"
#include "journal/line.hpp"
#include "journal/schema.hpp"

namespace gpumem {
namespace {

constexpr unsigned most_tries = 10000;

// A path of ours, NUL-terminated; text() is "" when it did not fit.
class Path {
 public:
  Path& operator<<(std::string_view part) { return line_.put(part), *this; }
  Path& operator<<(std::uint64_t number) { return line_.digits(number), *this; }
  const char* text() {
    if (!line_.fits()) return "";
    buffer_[line_.size()] = '\0';
    return buffer_;
  }

 private:
  char buffer_[4096];
  Line line_{buffer_, sizeof buffer_ - 1};
};

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool create_in(const char* folder, Journal& journal, JournalName& name, std::size_t largest,
               SegmentFile::Writing writing) {
  if (folder[0] == '\0') {
    errno = ENAMETOOLONG;
    return false;
  }
  for (name.n = 0; name.n < most_tries; ++name.n) {
    Path path;
    path << folder << "/" << schema::file_prefix;
    for (const char c : name.host) path << std::string_view(is_plain(c) ? &c : "_", 1);
    path << "-" << static_cast<std::uint64_t>(name.pid) << "-" << name.start_ticks << "-" << name.n << ".0"
         << schema::journal_suffix;
    if (journal.create(path.text(), largest, writing)) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

bool is_private_folder(const char* path) {
  struct stat status {};
  if (!status_of_path(path, status)) return false;
  if (S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0) return true;
  errno = EPERM;
  return false;
}

}  // namespace

bool create_journal(Journal& journal, JournalName& name, std::string_view given, std::size_t largest,
                    SegmentFile::Writing writing) {
  char working[4096];
  const bool has_working = getcwd(working, sizeof working) != nullptr;
  if (!given.empty()) {
    Path folder;
    if (given[0] != '/' && has_working) folder << working << "/";
    folder << given;
    mkdir(folder.text(), 0777);
    if (create_in(folder.text(), journal, name, largest, writing)) return true;
  } else if (has_working) {
    Path folder;
    folder << working << "/gpumem";
    const bool made = mkdir(folder.text(), 0777) == 0;
    if (create_in(folder.text(), journal, name, largest, writing)) return true;
    const int reason = errno;
    if (made) rmdir(folder.text());
    errno = reason;
  }
  const char* temporary = std::getenv("TMPDIR");
  Path folder;
  folder << (temporary != nullptr && temporary[0] == '/' ? temporary : "/tmp") << "/gpumem-"
         << static_cast<std::uint64_t>(geteuid());
  mkdir(folder.text(), 0700);
  return is_private_folder(folder.text()) && create_in(folder.text(), journal, name, largest, writing);
}

}  // namespace gpumem
