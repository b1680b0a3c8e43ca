#include "io/rename_no_replace.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>

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

/// Whether the file is on an SMB share. The client of Linux (up to 6.12 at least) checks itself
/// whether the target exists, and then asks the server to replace it, so RENAME_NOREPLACE is not
/// atomic between machines. The server does not replace a target by a hard link.
bool is_on_smb(const PathAt& file) {
  constexpr std::array<std::uint32_t, 3> kSmbTypes{0x517B, 0xFF534D42, 0xFE534D42};
  struct stat status {};
  if (::fstatat(file.directory, file.path, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  static std::mutex mutex;
  static std::map<dev_t, bool> known;  // there are few file systems
  const std::lock_guard lock(mutex);
  const auto found = known.find(status.st_dev);
  if (found != known.end()) return found->second;
  struct statfs of_system {};
  const int result = file.directory == AT_FDCWD ? ::statfs(file.path, &of_system)
                                                : ::fstatfs(file.directory, &of_system);
  if (result != 0) return false;
  const bool is_smb =
      std::ranges::find(kSmbTypes, std::uint32_t(of_system.f_type)) != kSmbTypes.end();
  known.emplace(status.st_dev, is_smb);
  return is_smb;
}

/// Not atomic.
bool check_and_rename(const PathAt& from, const PathAt& to) {
  struct stat status {};
  if (::fstatat(to.directory, to.path, &status, AT_SYMLINK_NOFOLLOW) == 0) return fail_with(EEXIST);
  return ::renameat(from.directory, from.path, to.directory, to.path) == 0;
}

bool link_and_unlink(const PathAt& from, const PathAt& to) {
  if (::linkat(from.directory, from.path, to.directory, to.path, 0) == 0) {
    // ENOENT: NFS has sent the request twice, and lost the first answer.
    if (::unlinkat(from.directory, from.path, 0) == 0 || errno == ENOENT) return true;
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
  const PathAt from_at{from_directory, from.c_str()}, to_at{to_directory, to.c_str()};
  if (is_on_smb(from_at)) return link_and_unlink(from_at, to_at);
  if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // EINVAL: NFS and some FUSE file systems
  return link_and_unlink(from_at, to_at);
}

}  // namespace eckart::io
