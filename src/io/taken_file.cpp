#include "io/taken_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/out_of_space.hpp"
#include "io/environment.hpp"
#include "io/rename_no_replace.hpp"
#include "io/this_process.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

// .eckart-taken-PROCESS-NAME, or .eckart-taken-PROCESS.NUMBER/NAME
constexpr std::string_view kPrefix = ".eckart-taken-";

[[noreturn]] void fail(const char* what, const fs::path& file, int error) {
  std::string message = std::string("cannot ") + what + " " + file.string() + ": " +
                        std::generic_category().message(error);
  if (error == ELOOP || error == ENOTDIR)
    message += " (one of its folders is a symbolic link, or is no folder)";
  check_environment(error, message);
  throw ItemError(Reason::not_written, message);
}

/// What is taken away makes room: want of it holds no other up.
[[noreturn]] void fail_to_take(const fs::path& file, int error) {
  if (is_out_of_space(error))
    throw ItemError(Reason::not_written, "cannot take away " + file.string() + ": " +
                                             std::generic_category().message(error));
  fail("take away", file, error);
}

struct EntryPlace {
  const Directory& directory;
  std::string name;
};

bool are_one_file(const EntryPlace& a, const EntryPlace& b) {
  struct stat of_a {
  }, of_b{};
  const auto look = [](const EntryPlace& place, struct stat& status) {
    return ::fstatat(place.directory.descriptor(), place.name.c_str(), &status,
                     AT_SYMLINK_NOFOLLOW) == 0;
  };
  return look(a, of_a) && look(b, of_b) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/// To a name that is this process's alone. Whether it could, and else errno.
bool rename_to_own(const EntryPlace& from, const EntryPlace& to) {
  const int from_folder = from.directory.descriptor(), to_folder = to.directory.descriptor();
  const char *const name = from.name.c_str(), *const own = to.name.c_str();
  if (::renameat2(from_folder, name, to_folder, own, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // a file system that does not know that
  if (!to.directory.has(to.name)) return ::renameat(from_folder, name, to_folder, own) == 0;
  errno = EEXIST;
  return false;
}

bool remove_directory(const Directory& folder, const std::string& name) {
  return ::unlinkat(folder.descriptor(), name.c_str(), AT_REMOVEDIR) == 0;
}

/// Its name, or none with errno.
std::string make_hidden_directory(const Directory& folder) {
  static std::atomic<std::uint64_t> calls{0};
  for (;;) {
    const std::string name = std::string(kPrefix) + this_process() + '.' + std::to_string(calls++);
    if (::mkdirat(folder.descriptor(), name.c_str(), 0700) == 0) return name;
    if (errno != EEXIST) return {};
  }
}

DirectoryPtr open_hidden_directory(const Directory& folder, const std::string& name) {
  return Directory::adopt(Descriptor(
      ::openat(folder.descriptor(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
}

/// Whether a file was hidden in a directory of its own, of this name.
bool is_hidden_directory(std::string_view name) {
  const std::size_t digits = this_process().size();
  name.remove_prefix(kPrefix.size());
  return name.size() > digits && name[digits] == '.' &&
         name.find_first_not_of("0123456789abcdef") == digits;
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

/// To its name, or where that is another file's by now, to one like it.
bool put_back(const EntryPlace& hidden, const EntryPlace& to) {
  if (are_one_file(hidden, to))  // was killed in between
    return ::unlinkat(hidden.directory.descriptor(), hidden.name.c_str(), 0) == 0;
  for (int number = 0;; ++number) {
    if (rename_no_replace(hidden.directory.descriptor(), hidden.name, to.directory.descriptor(),
                          numbered(to.name, number)))
      return true;
    if (errno != EEXIST) return false;
  }
}

/// Of the directory of a file that was hidden in it, which may be gone. More than one was never in
/// it: more is somebody else's, and stays.
bool put_back_from(const Directory& folder, const std::string& own_directory) {
  const DirectoryPtr directory = open_hidden_directory(folder, own_directory);
  Descriptor opened = directory ? directory->open_for_reading() : Descriptor();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(opened.get()), &::closedir);
  if (!listing) return false;
  opened.release();
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!put_back({*directory, name}, {folder, name})) return false;
    break;
  }
  return remove_directory(folder, own_directory);
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
  std::optional<Hidden> hidden = hide(directory, name);
  if (!hidden) {
    if (errno == ENOENT) return std::nullopt;
    fail_to_take(file.path(), errno);
  }
  TakenFile taken(file, read, std::move(directory), std::move(*hidden));
  // Between the look and the renaming it may have become another file, or its folder may have been
  // moved away, or be reached by a link by now. Then it goes back.
  const Hidden& there = taken.hidden_;
  if (!is_as_read(*there.directory, there.name, file.root->links(), read)) return std::nullopt;
  if (!open_directory(file)) {
    if (means_gone(errno)) return std::nullopt;
    fail("take away", file.path(), errno);
  }
  return taken;
}

/// Nothing, with errno, where it cannot be hidden.
std::optional<TakenFile::Hidden> TakenFile::hide(const DirectoryPtr& directory,
                                                 const std::string& name) {
  const std::string beside = std::string(kPrefix) + this_process() + '-' + name;
  if (rename_to_own({*directory, name}, {*directory, beside})) return Hidden{directory, beside, {}};
  if (errno != ENAMETOOLONG) return std::nullopt;
  const std::string own = make_hidden_directory(*directory);
  if (own.empty()) return std::nullopt;
  const DirectoryPtr inside = open_hidden_directory(*directory, own);
  if (inside && rename_to_own({*directory, name}, {*inside, name}))
    return Hidden{inside, name, own};
  const int error = errno;
  remove_directory(*directory, own);
  errno = error;
  return std::nullopt;
}

TakenFile::TakenFile(TakenFile&& other) noexcept
    : file_(std::move(other.file_)),
      read_(other.read_),
      directory_(std::move(other.directory_)),
      hidden_(std::exchange(other.hidden_, {})) {}

TakenFile::~TakenFile() {
  if (hidden_.name.empty()) return;
  static_cast<void>(put_back({*hidden_.directory, hidden_.name}, {*directory_, file_.name()}));
  forget();
}

/// It is not where it was hidden any more.
void TakenFile::forget() {
  if (!hidden_.own_directory.empty()) remove_directory(*directory_, hidden_.own_directory);
  hidden_ = {};
}

void TakenFile::remove() {
  if (::unlinkat(hidden_.directory->descriptor(), hidden_.name.c_str(), 0) != 0 && errno != ENOENT)
    fail("remove", file_.path(), errno);
  forget();
}

void TakenFile::move_to(const RootDirectory& root, const fs::path& relative,
                        std::int64_t max_copy_mb) {
  const DirectoryPtr to = root.make_below(relative.parent_path());
  if (!to) fail("make the folder", root.path() / relative.parent_path(), errno);
  const DirectoryEntry from{*hidden_.directory, hidden_.name, file_.path()};
  for (int number = 0;; ++number) {
    const fs::path place = relative.parent_path() / numbered(relative.filename(), number);
    if (move_file(from, {*to, place.filename(), root.path() / place}, max_copy_mb, &read_)) break;
  }
  forget();
}

bool move_file(const DirectoryEntry& from, const DirectoryEntry& to, std::int64_t max_mb,
               const FileIdentity* expected) {
  const int from_folder = from.directory.descriptor(), to_folder = to.directory.descriptor();
  if (rename_no_replace(from_folder, from.name, to_folder, to.name)) return true;
  if (errno == EEXIST) return false;
  if (errno != EXDEV) fail("move to", to.path, errno);
  if (to.directory.has(to.name)) return false;
  const std::optional<FileId> copy = copy_file(from, to, {max_mb, expected});
  if (!copy) return false;
  if (::unlinkat(from_folder, from.name.c_str(), 0) == 0 || errno == ENOENT) return true;
  const int error = errno;
  if (from.directory.has(from.name)) remove_copy(to, *copy);
  fail("remove", from.path, error);
}

bool restore_taken(const Directory& folder, std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view rest = name.substr(kPrefix.size());
  if (rest.starts_with(this_process())) return false;
  if (is_hidden_directory(name)) return put_back_from(folder, std::string(name));
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos) return false;
  return put_back({folder, std::string(name)}, {folder, std::string(rest.substr(dash + 1))});
}

}  // namespace eckart::io
