#include "io/taken_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/environment.hpp"
#include "io/rename_no_replace.hpp"
#include "io/this_process.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

// .eckart-taken-PROCESS-NAME
constexpr std::string_view kPrefix = ".eckart-taken-";

[[noreturn]] void fail(const char* what, const fs::path& file, int error) {
  std::string message = std::string("cannot ") + what + " " + file.string() + ": " +
                        std::generic_category().message(error);
  if (error == ELOOP || error == ENOTDIR)
    message += " (one of its folders is a symbolic link, or is no folder)";
  check_environment(error, message);
  throw ItemError(Reason::not_written, message);
}

bool are_one_file(const Directory& folder, const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  const auto look = [&](const std::string& name, struct stat& status) {
    return ::fstatat(folder.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  };
  return look(a, of_a) && look(b, of_b) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/// To a name in the same folder that is this process's alone. Whether it could, and else errno.
bool rename_to_own(const Directory& folder, const std::string& from, const std::string& to) {
  const int number = folder.descriptor();
  if (::renameat2(number, from.c_str(), number, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // a file system that does not know that
  if (!folder.has(to)) return ::renameat(number, from.c_str(), number, to.c_str()) == 0;
  errno = EEXIST;
  return false;
}

/// a.png, a-20261122T151203.png, a-20261122T151203-2.png, ...
std::string numbered(const std::string& name, int number) {
  if (number == 0) return name;
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "-%Y%m%dT%H%M%S", &utc);
  std::string suffix = time.data();
  if (number > 1) suffix += "-" + std::to_string(number);
  suffix += fs::path(name).extension().native();
  const std::string stem = fs::path(name).stem().native();
  return stem.substr(0, NAME_MAX - suffix.size()) + suffix;
}

/// Under its name, or where that is another file's by now, under one like it.
bool put_back(const Directory& folder, const std::string& hidden, const std::string& name) {
  if (are_one_file(folder, hidden, name))  // was killed in between
    return ::unlinkat(folder.descriptor(), hidden.c_str(), 0) == 0;
  for (int number = 0;; ++number) {
    const std::string to = numbered(name, number);
    if (rename_no_replace(folder.descriptor(), hidden, folder.descriptor(), to)) return true;
    if (errno != EEXIST) return false;
  }
}

bool is_as_read(const Directory& folder, const std::string& name, Links links,
                const FileIdentity& read) {
  const Entry there = look_at(folder, name, links);
  return there.kind == Entry::file && is_same_but_for_ctime(there.identity, read);
}

}  // namespace

std::optional<TakenFile> TakenFile::take(const RootedFile& file, const FileIdentity& read) {
  DirectoryPtr directory = open_directory(file);
  if (!directory) {
    if (means_gone(errno)) return std::nullopt;
    fail("take away", file.path(), errno);
  }
  const std::string name = file.name();
  // Not by ctime: another name of the same file may have come or gone meanwhile.
  if (!is_as_read(*directory, name, file.root->links(), read)) return std::nullopt;
  // A name too long to be hidden is taken as it stands.
  std::string hidden = std::string(kPrefix) + this_process() + '-' + name;
  if (hidden.size() > NAME_MAX) hidden = name;
  if (hidden != name && !rename_to_own(*directory, name, hidden)) {
    if (errno == ENOENT) return std::nullopt;
    fail("take away", file.path(), errno);
  }
  TakenFile taken(file, read, std::move(directory), std::move(hidden));
  // Between the look and the renaming it may have become another file, or its folder may have been
  // moved away, or be reached by a link by now. Then it goes back.
  if (!is_as_read(*taken.directory_, taken.hidden_, file.root->links(), read)) return std::nullopt;
  if (!open_directory(file)) {
    if (means_gone(errno)) return std::nullopt;
    fail("take away", file.path(), errno);
  }
  return taken;
}

TakenFile::TakenFile(TakenFile&& other) noexcept
    : file_(std::move(other.file_)),
      read_(other.read_),
      directory_(std::move(other.directory_)),
      hidden_(std::exchange(other.hidden_, {})) {}

TakenFile::~TakenFile() {
  if (hidden_.empty()) return;
  const std::string name = file_.name();
  if (hidden_ != name) static_cast<void>(put_back(*directory_, hidden_, name));
}

void TakenFile::remove() {
  if (::unlinkat(directory_->descriptor(), hidden_.c_str(), 0) != 0 && errno != ENOENT)
    fail("remove", file_.path(), errno);
  hidden_.clear();
}

void TakenFile::move_to(const RootDirectory& root, const fs::path& relative,
                        std::int64_t max_copy_mb) {
  const DirectoryPtr to = root.make_below(relative.parent_path());
  if (!to) fail("make the folder", root.path() / relative.parent_path(), errno);
  const DirectoryEntry from{*directory_, hidden_, file_.path()};
  for (int number = 0;; ++number) {
    const fs::path place = relative.parent_path() / numbered(relative.filename(), number);
    if (move_file(from, {*to, place.filename(), root.path() / place}, max_copy_mb, &read_)) break;
  }
  hidden_.clear();
}

bool move_file(const DirectoryEntry& from, const DirectoryEntry& to, std::int64_t max_mb,
               const FileIdentity* expected) {
  const int from_folder = from.directory.descriptor(), to_folder = to.directory.descriptor();
  if (rename_no_replace(from_folder, from.name, to_folder, to.name)) return true;
  if (errno == EEXIST) return false;
  if (errno != EXDEV) fail("move to", to.path, errno);
  if (to.directory.has(to.name)) return false;
  const auto put = [&](int folder, const std::string& copy) {
    return rename_no_replace(folder, copy, to_folder, to.name);
  };
  if (!copy_file(from, to, {max_mb, expected}, put)) return false;
  if (::unlinkat(from_folder, from.name.c_str(), 0) != 0) fail("remove", from.path, errno);
  return true;
}

bool restore_taken(const Directory& folder, std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view rest = name.substr(kPrefix.size());
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos || rest.substr(0, dash) == this_process()) return false;
  return put_back(folder, std::string(name), std::string(rest.substr(dash + 1)));
}

}  // namespace eckart::io
