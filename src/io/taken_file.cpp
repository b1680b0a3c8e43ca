#include "io/taken_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <ctime>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/descriptor.hpp"
#include "io/environment.hpp"
#include "io/file.hpp"
#include "io/sync_folder.hpp"
#include "io/temporary_file.hpp"
#include "io/this_process.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

// .eckart-taken-PROCESS-NAME
constexpr std::string_view kPrefix = ".eckart-taken-";

[[noreturn]] void fail(const char* what, const fs::path& file, int error) {
  const std::string message = std::string("cannot ") + what + " " + file.string() + ": " +
                              std::generic_category().message(error);
  check_environment(error, message);
  throw ItemError(Reason::not_written, message);
}

bool is_there(const fs::path& path) {
  struct stat none {};
  return ::lstat(path.c_str(), &none) == 0;
}

bool are_one_file(const fs::path& a, const fs::path& b) {
  struct stat of_a {
  }, of_b{};
  return ::lstat(a.c_str(), &of_a) == 0 && ::lstat(b.c_str(), &of_b) == 0 &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool fail_with(int error) {
  errno = error;
  return false;
}

/// Where nobody else makes a file of that name meanwhile.
bool rename_to_unused(const fs::path& from, const fs::path& to) {
  if (is_there(to)) return fail_with(EEXIST);
  return ::rename(from.c_str(), to.c_str()) == 0;
}

/// On a file system that knows no RENAME_NOREPLACE: NFS, some of FUSE. Likewise.
bool link_to_free(const fs::path& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    if (::unlink(from.c_str()) == 0) return true;
    const int error = errno;
    ::unlink(to.c_str());  // one file has one name
    return fail_with(error);
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return false;
  return rename_to_unused(from, to);  // nor hard links, or none of others' files
}

/// Whether it could, and else errno; EEXIST where there is a file of the new name.
bool rename_to_free(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return link_to_free(from, to);
}

/// To a name that is this process's alone. Likewise.
bool rename_to_own(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  return (errno == EINVAL || errno == ENOSYS) && rename_to_unused(from, to);
}

bool is_as(const fs::path& file, const FileState& state) {
  try {
    return state_of(file) == state;
  } catch (const ItemError&) {  // gone
    return false;
  }
}

/// a.png, a-20261122T151203.png, a-20261122T151203-2.png, ...
fs::path numbered(const fs::path& place, int number) {
  if (number == 0) return place;
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "-%Y%m%dT%H%M%S", &utc);
  std::string suffix = time.data();
  if (number > 1) suffix += "-" + std::to_string(number);
  suffix += place.extension().native();
  const std::string stem = place.stem().native();
  return place.parent_path() / (stem.substr(0, NAME_MAX - suffix.size()) + suffix);
}

/// Under its name, or where that is another file's by now, under one like it.
bool put_back(const fs::path& hidden, const fs::path& file) {
  if (are_one_file(hidden, file)) return ::unlink(hidden.c_str()) == 0;  // was killed in between
  for (int number = 0;; ++number) {
    if (rename_to_free(hidden, numbered(file, number))) return true;
    if (errno != EEXIST) return false;
  }
}

void copy_bytes(const fs::path& from, const Descriptor& in, TemporaryFile& to) {
  std::array<std::byte, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(in.get(), buffer.data(), buffer.size());
    if (got == 0) return;
    if (got > 0) to.write(std::span(buffer).first(std::size_t(got)));
    if (got < 0 && errno != EINTR) fail("read", from, errno);
  }
}

/// With its times, and on the disk before it has its name; false where there is a file of that.
bool copy_to(const fs::path& from, const fs::path& to) {
  const Descriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!in || ::fstat(in.get(), &status) != 0) fail("read", from, errno);
  try {
    TemporaryFile copy(to.parent_path());
    copy_bytes(from, in, copy);
    const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
    static_cast<void>(::utimensat(AT_FDCWD, copy.path().c_str(), times.data(), 0));
    copy.sync();
    copy.close();
    if (!rename_to_free(copy.path(), to)) {
      if (errno == EEXIST) return false;
      fail("write", to, errno);
    }
    sync_with_those_around(to.parent_path());
    return true;
  } catch (const std::system_error& error) {
    fail("write", to, error.code().value());
  }
}

}  // namespace

std::optional<TakenFile> TakenFile::take(const fs::path& file, const FileState& state) {
  if (!is_as(file, state)) return std::nullopt;
  const std::string name = file.filename().native();
  const std::string hidden = std::string(kPrefix) + this_process() + '-' + name;
  // A name too long to be hidden is taken as it stands.
  if (hidden.size() > NAME_MAX) return TakenFile(file, file);
  TakenFile taken(file, file.parent_path() / hidden);
  if (!rename_to_own(file, taken.hidden_)) {
    const int error = errno;
    taken.hidden_.clear();
    if (error == ENOENT) return std::nullopt;
    fail("take away", file, error);
  }
  if (!is_as(taken.hidden_, state)) return std::nullopt;  // and it goes back
  return taken;
}

TakenFile::TakenFile(TakenFile&& other) noexcept
    : file_(std::move(other.file_)), hidden_(std::exchange(other.hidden_, {})) {}

TakenFile::~TakenFile() {
  if (!hidden_.empty() && hidden_ != file_) static_cast<void>(put_back(hidden_, file_));
}

void TakenFile::remove() {
  if (::unlink(hidden_.c_str()) != 0 && errno != ENOENT) fail("remove", file_, errno);
  hidden_.clear();
}

void TakenFile::move_to(const fs::path& place) {
  for (int number = 0; !move_file(hidden_, numbered(place, number)); ++number) {
  }
  hidden_.clear();
}

bool move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error) fail("make the folder", to.parent_path(), error.value());
  if (rename_to_free(from, to)) return true;
  if (errno == EEXIST) return false;
  if (errno != EXDEV) fail("move to", to, errno);
  if (is_there(to) || !copy_to(from, to)) return false;
  if (::unlink(from.c_str()) != 0) fail("remove", from, errno);
  return true;
}

bool restore_taken(const fs::path& folder, std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view rest = name.substr(kPrefix.size());
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos || rest.substr(0, dash) == this_process()) return false;
  const fs::path hidden = folder / name, file = folder / rest.substr(dash + 1);
  return put_back(hidden, file);
}

}  // namespace eckart::io
