#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "io/environment_error.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  fail_to_create(
      error, what + text::printable(path.native()) + ": " + std::generic_category().message(error));
}

std::filesystem::path lock_file_of(const std::filesystem::path& root) {
  return root / files::kStateFolder / "lock";
}

/// Returns "process N" with the number in the lock file, or "another process" if there is none.
std::string holder_of(const files::FileDescriptor& descriptor) {
  std::array<char, 24> text{};
  const ssize_t got = ::pread(descriptor.get(), text.data(), text.size() - 1, 0);
  const std::string number(text.data(), got > 0 ? std::size_t(got) : 0);
  return number.empty() ? "another process" : "process " + number;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& root) : root_(root), file_(lock_file_of(root)) {
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  if (error) fail("cannot create files in the output folder ", root, error.value());
  descriptor_ = files::FileDescriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor_) fail("cannot create ", file_, errno);
  is_held_ = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0;
  if (is_held_) {
    const std::string number = std::to_string(::getpid());
    // Informational only. The kernel decides who holds the lock.
    if (::ftruncate(descriptor_.get(), 0) == 0)
      static_cast<void>(!::pwrite(descriptor_.get(), number.data(), number.size(), 0));
    return;
  }
  if (errno == EWOULDBLOCK) {
    throw FatalError(ExitCode::temporary,
                     text::printable(root.native()) + " is in use by " + holder_of(descriptor_) +
                         ": wait until it has ended, or choose another output folder");
  }
  // The file system does not support locks. Then other processes are not excluded.
  if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS) fail("cannot lock ", file_, errno);
}

bool FolderLock::is_in_place() const {
  struct stat at_path {
  }, locked{};
  return ::stat(file_.c_str(), &at_path) == 0 && ::fstat(descriptor_.get(), &locked) == 0 &&
         at_path.st_dev == locked.st_dev && at_path.st_ino == locked.st_ino;
}

void FolderLock::check_not_replaced() const {
  if (is_in_place()) return;
  throw EnvironmentError(text::printable(root_.native()) +
                         " was moved, removed or replaced during the run");
}

bool is_locked(const std::filesystem::path& root) {
  const files::FileDescriptor descriptor(::open(lock_file_of(root).c_str(), O_RDONLY | O_CLOEXEC));
  return descriptor && ::flock(descriptor.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace eckart::io
