#include "io/directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "io/read_file.hpp"

namespace eckart::io {

FileIdentity identity_of(const struct stat& status) {
  return {state_of(status), status.st_dev, files::in_ns(status.st_ctim)};
}

bool equal_except_ctime(const FileIdentity& a, const FileIdentity& b) {
  return a.state == b.state && a.device == b.device;
}

std::shared_ptr<const Directory> Directory::adopt(files::FileDescriptor descriptor) {
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) return nullptr;
  return std::shared_ptr<const Directory>(
      new Directory(std::move(descriptor), {status.st_dev, status.st_ino}));
}

bool Directory::contains(const std::string& name) const {
  struct stat status {};
  return ::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

files::FileDescriptor Directory::open_for_reading() const {
  return files::FileDescriptor(::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool is_missing_error(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV;
}

}  // namespace eckart::io
