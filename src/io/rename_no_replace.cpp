#include "io/rename_no_replace.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

bool fail_with(int error) {
  errno = error;
  return false;
}

/// A path relative to an open directory, or to the current one if `directory` is AT_FDCWD.
struct PathAt {
  int directory;
  const char* path;
};

/// Not atomic.
bool check_and_rename(const PathAt& from, const PathAt& to) {
  struct stat status {};
  if (::fstatat(to.directory, to.path, &status, AT_SYMLINK_NOFOLLOW) == 0) return fail_with(EEXIST);
  return ::renameat(from.directory, from.path, to.directory, to.path) == 0;
}

bool link_and_unlink(const PathAt& from, const PathAt& to) {
  if (::linkat(from.directory, from.path, to.directory, to.path, 0) == 0) {
    if (::unlinkat(from.directory, from.path, 0) == 0) return true;
    const int error = errno;
    ::unlinkat(to.directory, to.path, 0);  // a file must not keep two names
    return fail_with(error);
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return false;
  return check_and_rename(from, to);  // no hard links on this file system, or none to this file
}

}  // namespace

bool rename_no_replace(const fs::path& from, const fs::path& to) {
  return rename_no_replace(AT_FDCWD, from, AT_FDCWD, to);
}

bool rename_no_replace(int from_directory, const fs::path& from, int to_directory,
                       const fs::path& to) {
  if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // EINVAL: NFS and some FUSE file systems
  return link_and_unlink({from_directory, from.c_str()}, {to_directory, to.c_str()});
}

}  // namespace eckart::io
