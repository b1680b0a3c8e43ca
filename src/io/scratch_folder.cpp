#include "io/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "core/error.hpp"
#include "io/environment_error.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";
constexpr std::time_t kMaxUnlockedS = 3600;

fs::path temporary_folder() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error)
    throw FatalError(ExitCode::cannot_create, "there is no temporary folder (" + error.message() +
                                                  "): set TMPDIR to a folder");
  return folder;
}

/// Whether the folder is one of this user whose process has ended. The kernel releases the lock of
/// a process that ends, however it ends.
bool is_abandoned(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid())
    return false;
  const files::FileDescriptor lock(
      ::open((folder / kLock).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (lock) return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  // It is being made or removed, unless it stays so.
  const bool has_no_lock = errno == ENOENT;
  return has_no_lock && std::time(nullptr) - status.st_mtime > kMaxUnlockedS;
}

/// Locks of a shared file system may hold on one host only.
std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    std::error_code none;
    if (entry->path().filename().native().starts_with(prefix) && is_abandoned(entry->path()))
      fs::remove_all(entry->path(), none);
  }
}

/// Makes and locks a file, which has its name only once it is locked.
files::FileDescriptor locked_file(const fs::path& path) {
  const std::string new_path = path.native() + ".new";
  files::FileDescriptor file(::open(new_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file && (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 ||
               ::rename(new_path.c_str(), path.c_str()) != 0))
    file = files::FileDescriptor();
  return file;
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& parent, const std::string& prefix) {
  const fs::path folder = parent.empty() ? temporary_folder() : parent;
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string start = prefix + "-" + host_name() + "-";
  if (!error) remove_abandoned(folder, start);
  std::string name = (folder / (start + "XXXXXX")).string();
  if (!error && !::mkdtemp(name.data())) error = {errno, std::generic_category()};
  if (error)
    fail_to_create(error.value(), "cannot create a folder in " + text::printable(folder.native()) +
                                      ": " + error.message());
  path_ = fs::absolute(name);
  lock_ = locked_file(path_ / kLock);  // without locks, a folder of a killed process stays
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace eckart::io
