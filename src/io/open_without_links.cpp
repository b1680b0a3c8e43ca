#include "io/open_without_links.hpp"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// With O_DIRECTORY the kernel says ENOTDIR of a link.
void set_loop_error(int directory, const char* name) {
  struct stat status {};
  const bool is_link =
      ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  errno = is_link ? ELOOP : ENOTDIR;
}

/// Opens one component at a time.
files::FileDescriptor open_by_component(int directory, const fs::path& path, bool is_beneath,
                                        bool make) {
  if (is_beneath && path.is_absolute()) {
    errno = EXDEV;
    return files::FileDescriptor();
  }
  files::FileDescriptor opened(::openat(directory, path.is_absolute() ? "/" : ".", kPathFlags));
  for (const fs::path& name : path.relative_path()) {
    if (!opened) break;
    if (name.empty() || name == ".") continue;
    if (is_beneath && name == "..") {
      errno = EXDEV;
      return files::FileDescriptor();
    }
    const auto open = [&] {
      return files::FileDescriptor(::openat(opened.get(), name.c_str(), kPathFlags | O_NOFOLLOW));
    };
    files::FileDescriptor next = open();
    if (!next && make && errno == ENOENT) {
      if (::mkdirat(opened.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
        return files::FileDescriptor();
      next = open();
    }
    if (!next && errno == ENOTDIR) set_loop_error(opened.get(), name.c_str());
    const int error = errno;
    std::swap(opened, next);
    next = files::FileDescriptor();
    errno = error;
  }
  return opened;
}

/// Returns nothing if the kernel is too old, or the seccomp filter of a container rejects the call.
std::optional<files::FileDescriptor> open_with_openat2(int directory, const fs::path& path,
                                                       std::uint64_t resolve) {
  constexpr int kMaxAttempts = 8;  // EAGAIN: a concurrent rename or mount
  open_how how{};
  how.flags = kPathFlags;
  how.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int i = 0; i < kMaxAttempts; ++i) {
    const long opened = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
    if (opened >= 0) return files::FileDescriptor(int(opened));
    if (errno == ENOSYS || errno == EPERM) return std::nullopt;
    if (errno != EAGAIN) break;
  }
  return files::FileDescriptor();
}

}  // namespace

files::FileDescriptor open_without_links(int directory, const fs::path& path) {
  auto opened = open_with_openat2(directory, path, 0);
  return opened ? std::move(*opened) : open_by_component(directory, path, false, false);
}

files::FileDescriptor open_beneath(int directory, const fs::path& relative) {
  auto opened = open_with_openat2(directory, relative, RESOLVE_BENEATH);
  return opened ? std::move(*opened) : open_by_component(directory, relative, true, false);
}

files::FileDescriptor make_beneath(int directory, const fs::path& relative) {
  return open_by_component(directory, relative, true, true);
}

}  // namespace eckart::io
