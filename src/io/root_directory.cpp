#include "io/root_directory.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/sync_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

/// Opens one component at a time. If `make` is true, missing directories are created.
files::FileDescriptor open_by_component(int root, const fs::path& relative, bool make) {
  files::FileDescriptor directory(::openat(root, ".", kFlags));
  for (const fs::path& name : relative) {
    if (!directory) break;
    if (name.empty() || name == ".") continue;
    if (name == ".." || name == "/") {
      errno = EXDEV;
      return files::FileDescriptor();
    }
    const auto open = [&] {
      return files::FileDescriptor(::openat(directory.get(), name.c_str(), kFlags | O_NOFOLLOW));
    };
    files::FileDescriptor next = open();
    if (!next && make && errno == ENOENT) {
      if (::mkdirat(directory.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
        return files::FileDescriptor();
      next = open();
    }
    std::swap(directory, next);
  }
  return directory;
}

files::FileDescriptor open_beneath(int root, const fs::path& relative) {
  constexpr int kMaxAttempts = 8;  // EAGAIN: a concurrent rename or mount
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int i = 0; i < kMaxAttempts; ++i) {
    const long opened = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
    if (opened >= 0) return files::FileDescriptor(int(opened));
    // The kernel is too old, or the seccomp filter of a container rejects the call.
    if (errno == ENOSYS || errno == EPERM) return open_by_component(root, relative, false);
    if (errno != EAGAIN) break;
  }
  return files::FileDescriptor();
}

}  // namespace

RootDirectoryPtr RootDirectory::open(const fs::path& path, files::LinkPolicy links) {
  const DirectoryPtr directory =
      Directory::adopt(files::FileDescriptor(::open(path.c_str(), kFlags)));
  if (!directory) return nullptr;
  return RootDirectoryPtr(new RootDirectory(path, links, directory->id()));
}

DirectoryPtr RootDirectory::open() const {
  DirectoryPtr directory = Directory::adopt(files::FileDescriptor(::open(path_.c_str(), kFlags)));
  if (!directory || directory->id() == id_) return directory;
  errno = ENOENT;
  return nullptr;
}

DirectoryPtr RootDirectory::open_below(const fs::path& relative) const {
  DirectoryPtr root = open();
  if (!root || relative.empty()) return root;
  if (links_ == files::LinkPolicy::all)
    return Directory::adopt(
        files::FileDescriptor(::openat(root->descriptor(), relative.c_str(), kFlags)));
  return Directory::adopt(open_beneath(root->descriptor(), relative));
}

DirectoryPtr RootDirectory::make_below(const fs::path& relative) const {
  DirectoryPtr root = open();
  if (!root || relative.empty()) return root;
  DirectoryPtr directory = Directory::adopt(open_beneath(root->descriptor(), relative));
  if (directory || errno != ENOENT) return directory;
  directory = Directory::adopt(open_by_component(root->descriptor(), relative, true));
  const int error = errno;
  for (fs::path path = relative; !path.empty(); path = path.parent_path())
    forget_synced_folder(path_ / path);
  errno = error;
  return directory;
}

bool RootDirectory::remove_below(const fs::path& relative) const {
  const DirectoryPtr directory = open_below(relative.parent_path());
  return directory && ::unlinkat(directory->descriptor(), relative.filename().c_str(), 0) == 0;
}

}  // namespace eckart::io
