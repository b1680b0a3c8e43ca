#include "io/unnamed_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>

#include "io/temporary_file.hpp"

#ifndef XFS_SUPER_MAGIC  // older kernel headers
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Not Btrfs: its fsync ignores the metadata of files without a name, so that a file may be empty
/// after a power cut. NFS, FUSE and SMB may report a failed write only when the file is closed.
bool is_suitable(const fs::path& folder) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  switch (status.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
      return true;
    default:
      return false;
  }
}

/// Old kernels do not apply the umask to files without a name on all file systems.
bool have_same_permissions(const files::FileDescriptor& file, const fs::path& other) {
  struct stat a {
  }, b{};
  return ::fstat(file.get(), &a) == 0 && ::lstat(other.c_str(), &b) == 0 &&
         a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_gid == b.st_gid;
}

bool is_unsupported(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOSYS ||
         error == EPERM || error == ENOENT;
}

/// Returns nullopt if it cannot be found out now: if the disk is full, for example.
std::optional<LinkMethod> try_link_methods(const fs::path& folder) try {
  if (!is_suitable(folder)) return LinkMethod::none;
  const auto other_result = [] {
    return is_unsupported(errno) ? std::optional(LinkMethod::none) : std::nullopt;
  };
  std::string name;
  {
    const TemporaryFile named(folder);
    const files::FileDescriptor file = open_unnamed(AT_FDCWD, folder);
    if (!file) return other_result();
    if (!have_same_permissions(file, named.path())) return LinkMethod::none;
    name = named.path();
  }
  for (const LinkMethod method : {LinkMethod::descriptor, LinkMethod::proc}) {
    const files::FileDescriptor file = open_unnamed(AT_FDCWD, folder);
    if (!file) return other_result();
    if (link_unnamed(file, method, AT_FDCWD, name)) {
      ::unlinkat(AT_FDCWD, name.c_str(), 0);
      return method;
    }
  }
  return other_result();
} catch (const std::system_error&) {
  return std::nullopt;
}

/// A path of what is open with this descriptor.
std::string link_to(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// Known methods, by folder and by file system.
class LinkMethods {
 public:
  LinkMethod method_in(const fs::path& folder) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = by_folder_.find(folder.native()); known != by_folder_.end())
        return known->second;
    }
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) return LinkMethod::none;
    const std::optional<LinkMethod> method = method_on(status.st_dev, folder);
    if (!method) return LinkMethod::none;
    constexpr std::size_t kMaxFolders = 10000;
    const std::lock_guard lock(mutex_);
    if (by_folder_.size() >= kMaxFolders) by_folder_.clear();  // each is then looked at once more
    by_folder_.emplace(folder.native(), *method);
    return *method;
  }

  LinkMethod method_in(const Directory& folder) {
    return method_on(folder.id().device, link_to(folder.descriptor())).value_or(LinkMethod::none);
  }

 private:
  /// On the file system of `folder`; nullopt if it cannot be found out now.
  std::optional<LinkMethod> method_on(dev_t device, const fs::path& folder) {
    std::optional<LinkMethod> method = find_by_device(device);
    if (method) return method;
    method = try_link_methods(folder);
    const std::lock_guard lock(mutex_);
    if (method) by_device_.emplace(device, *method);
    return method;
  }

  std::optional<LinkMethod> find_by_device(dev_t device) const {
    const std::lock_guard lock(mutex_);
    const auto known = by_device_.find(device);
    return known == by_device_.end() ? std::nullopt : std::optional(known->second);
  }

  mutable std::mutex mutex_;
  std::unordered_map<std::string, LinkMethod> by_folder_;
  std::unordered_map<dev_t, LinkMethod> by_device_;
};

LinkMethods& known_methods() {
  static LinkMethods methods;
  return methods;
}

}  // namespace

LinkMethod link_method(const fs::path& folder) { return known_methods().method_in(folder); }

LinkMethod link_method(const Directory& folder) { return known_methods().method_in(folder); }

files::FileDescriptor open_unnamed(int folder, const fs::path& path, mode_t mode) {
  for (;;) {
    files::FileDescriptor file(
        ::openat(folder, path.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
    if (file || errno != EINTR) return file;
  }
}

bool link_unnamed(const files::FileDescriptor& file, LinkMethod method, int folder,
                  const fs::path& path) {
  if (method == LinkMethod::descriptor)
    return ::linkat(file.get(), "", folder, path.c_str(), AT_EMPTY_PATH) == 0;
  return ::linkat(AT_FDCWD, link_to(file.get()).c_str(), folder, path.c_str(), AT_SYMLINK_FOLLOW) ==
         0;
}

}  // namespace eckart::io
