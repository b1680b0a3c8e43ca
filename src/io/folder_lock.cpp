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
#include "io/state_folder.hpp"
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

/// Returns the begin of the lock file: all of it, if eckart wrote it.
std::string text_of(const files::FileDescriptor& descriptor) {
  std::array<char, 24> text{};
  const ssize_t got = ::pread(descriptor.get(), text.data(), text.size(), 0);
  return {text.data(), got > 0 ? std::size_t(got) : 0};
}

bool is_process_number(const std::string& text) {
  return text.size() < 12 && text.find_first_not_of("0123456789") == text.npos;
}

/// Returns "process N" with the number in the lock file, or "another process" if there is none.
std::string holder_of(const files::FileDescriptor& descriptor) {
  const std::string number = text_of(descriptor);
  return number.empty() || !is_process_number(number) ? "another process" : "process " + number;
}

/// Opens the lock file. Follows no link at the state folder or the file, and waits for no pipe:
/// others may write to folders above an output folder. Returns an invalid descriptor, with errno,
/// on failure: ELOOP for a link, ENOTDIR or EISDIR, and EEXIST for a pipe and the like.
files::FileDescriptor open_lock_file(const std::filesystem::path& root, int flags) {
  const files::FileDescriptor state = state_folder(root).open();
  if (!state) return files::FileDescriptor();
  constexpr int kSafe = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  files::FileDescriptor file(::openat(state.get(), "lock", flags | kSafe, 0666));
  struct stat status {};
  if (file && ::fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode)) {
    file = files::FileDescriptor();
    errno = EEXIST;
  }
  return file;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& root, Mode mode)
    : root_(root), file_(lock_file_of(root)) {
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  if (error) fail("cannot create files in the output folder ", root, error.value());
  descriptor_ = open_lock_file(root, O_RDWR | O_CREAT);
  if (!descriptor_ && errno == ELOOP)
    throw FatalError(ExitCode::cannot_create,
                     text::printable(file_.native()) +
                         ": it or its folder is a symbolic link, which is not followed");
  if (!descriptor_) fail("cannot create ", file_, errno);
  const bool is_shared = mode == Mode::shared;
  is_held_ = ::flock(descriptor_.get(), (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0;
  if (is_held_) {
    if (!is_process_number(text_of(descriptor_)))
      throw FatalError(ExitCode::cannot_create,
                       text::printable(file_.native()) +
                           ": not a lock file of eckart; it was not changed. Move it away");
    // One of several processes that share it, which may be on several machines, says nothing.
    const std::string number = is_shared ? "" : std::to_string(::getpid());
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
  const files::FileDescriptor descriptor = open_lock_file(root, O_RDONLY);
  return descriptor && ::flock(descriptor.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace eckart::io
