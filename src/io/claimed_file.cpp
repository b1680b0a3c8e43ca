#include "io/claimed_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
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
#include "files/out_of_space.hpp"
#include "io/environment_error.hpp"
#include "io/input_file.hpp"
#include "io/process_token.hpp"
#include "io/rename_no_replace.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

// A claim is named .eckart-claim-PROCESS-NAME or .eckart-claim-PROCESS.NUMBER/NAME.
constexpr std::string_view kPrefix = ".eckart-claim-";

[[noreturn]] void fail(const char* what, const fs::path& file, int error) {
  std::string message = std::string("cannot ") + what + " " + file.string() + ": " +
                        std::generic_category().message(error);
  if (error == ELOOP || error == ENOTDIR)
    message += " (a parent is a symbolic link or not a folder)";
  check_environment(error, message);
  throw ItemError(FailureReason::not_written, message);
}

/// A claim may need space for a new directory entry. If the disk is full, only this file fails: the
/// error is an ItemError, not an EnvironmentError.
[[noreturn]] void fail_to_claim(const fs::path& file, int error) {
  if (files::is_out_of_space(error))
    throw ItemError(FailureReason::not_written, "cannot claim " + file.string() + ": " +
                                                    std::generic_category().message(error));
  fail("claim", file, error);
}

struct EntryRef {
  const Directory& directory;
  std::string name;
};

bool are_same_file(const EntryRef& a, const EntryRef& b) {
  struct stat status_a {
  }, status_b{};
  const auto read_status = [](const EntryRef& entry, struct stat& status) {
    return ::fstatat(entry.directory.descriptor(), entry.name.c_str(), &status,
                     AT_SYMLINK_NOFOLLOW) == 0;
  };
  return read_status(a, status_a) && read_status(b, status_b) &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

/// Renames to a name that only this process uses. Returns false, with errno, on failure.
bool rename_exclusively(const EntryRef& from, const EntryRef& to) {
  const int from_folder = from.directory.descriptor(), to_folder = to.directory.descriptor();
  const char *const name = from.name.c_str(), *const new_name = to.name.c_str();
  if (::renameat2(from_folder, name, to_folder, new_name, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system does not support RENAME_NOREPLACE. Only this process uses the new name, so a
  // check before the rename is sufficient.
  if (!to.directory.contains(to.name))
    return ::renameat(from_folder, name, to_folder, new_name) == 0;
  errno = EEXIST;
  return false;
}

bool remove_directory(const Directory& folder, const std::string& name) {
  return ::unlinkat(folder.descriptor(), name.c_str(), AT_REMOVEDIR) == 0;
}

/// Returns the name of the new directory. Returns an empty string, with errno, on failure.
std::string make_claim_directory(const Directory& folder) {
  static std::atomic<std::uint64_t> calls{0};
  for (;;) {
    std::string name = std::string(kPrefix) + process_token() + '.' + std::to_string(calls++);
    if (::mkdirat(folder.descriptor(), name.c_str(), 0700) == 0) return name;
    if (errno != EEXIST) return {};
  }
}

DirectoryPtr open_claim_directory(const Directory& folder, const std::string& name) {
  return Directory::adopt(files::FileDescriptor(
      ::openat(folder.descriptor(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
}

/// Returns whether `name`, which starts with kPrefix, names the directory of a claim.
bool is_claim_directory(std::string_view name) {
  const std::size_t digits = process_token().size();
  name.remove_prefix(kPrefix.size());
  return name.size() > digits && name[digits] == '.' &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

/// Returns a.png, a-20261122T151203.png, a-20261122T151203-2.png, ... for the numbers 0, 1, 2, ...
std::string numbered_name(const std::string& name, int number) {
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

/// Takes a shared flock, which shows other processes that the process with the claim is alive. The
/// kernel releases it when the process ends. If the file cannot be opened or locked, another
/// process may restore the file.
files::FileDescriptor lock_claim(const EntryRef& file) {
  files::FileDescriptor lock(
      ::openat(file.directory.descriptor(), file.name.c_str(), InputFile::kOpenFlags | O_NOFOLLOW));
  if (lock) static_cast<void>(::flock(lock.get(), LOCK_SH | LOCK_NB));
  return lock;
}

bool has_live_owner(const EntryRef& claim) {
  const files::FileDescriptor file(::openat(claim.directory.descriptor(), claim.name.c_str(),
                                            InputFile::kOpenFlags | O_NOFOLLOW));
  return file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Renames a claim to its original name. If another file has that name, a numbered name is used.
bool release_claim(const EntryRef& claim, const EntryRef& to) {
  if (are_same_file(claim, to))  // the process was killed between link and unlink
    return ::unlinkat(claim.directory.descriptor(), claim.name.c_str(), 0) == 0;
  for (int number = 0;; ++number) {
    if (rename_no_replace(claim.directory.descriptor(), claim.name, to.directory.descriptor(),
                          numbered_name(to.name, number)))
      return true;
    if (errno != EEXIST) return false;
  }
}

/// Restores the file in a claim directory, if any, and removes the directory. A claim directory has
/// at most one file. If there are more, they belong to another program and stay.
bool release_claim_directory(const Directory& folder, const std::string& claim_directory) {
  const DirectoryPtr directory = open_claim_directory(folder, claim_directory);
  files::FileDescriptor opened =
      directory ? directory->open_for_reading() : files::FileDescriptor();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(opened.get()), &::closedir);
  if (!listing) return false;
  opened.release();
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const EntryRef claim{*directory, name};
    if (has_live_owner(claim) || !release_claim(claim, {folder, name})) return false;
    break;
  }
  return remove_directory(folder, claim_directory);
}

bool is_unchanged(const Directory& folder, const std::string& name, files::LinkPolicy links,
                  const FileIdentity& expected) {
  const EntryStat entry = stat_entry(folder, name, links);
  return entry.kind == EntryStat::file && equal_except_ctime(entry.identity, expected);
}

}  // namespace

std::optional<ClaimedFile> ClaimedFile::claim(const RootedFile& file,
                                              const FileIdentity& expected) {
  DirectoryPtr directory = open_directory(file);
  if (!directory) {
    if (is_missing_error(errno)) return std::nullopt;
    fail("claim", file.path(), errno);
  }
  const std::string name = file.name();
  // The ctime is not compared: a hard link to the same file may have been added or removed.
  if (!is_unchanged(*directory, name, file.root->links(), expected)) return std::nullopt;
  files::FileDescriptor lock = lock_claim({*directory, name});
  std::optional<ClaimPath> claim_path = rename_to_claim(directory, name);
  if (!claim_path) {
    if (errno == ENOENT) return std::nullopt;
    fail_to_claim(file.path(), errno);
  }
  ClaimedFile claimed(file, expected, std::move(directory), std::move(*claim_path),
                      std::move(lock));
  // Between the check and the rename, another file may have replaced this one. Its folder may also
  // have been moved, or may now be reached through a link. Then the destructor restores the file.
  const ClaimPath& path = claimed.claim_path_;
  if (!is_unchanged(*path.directory, path.name, file.root->links(), expected)) return std::nullopt;
  if (!open_directory(file)) {
    if (is_missing_error(errno)) return std::nullopt;
    fail("claim", file.path(), errno);
  }
  return claimed;
}

/// Returns nullopt, with errno, on failure.
std::optional<ClaimedFile::ClaimPath> ClaimedFile::rename_to_claim(const DirectoryPtr& directory,
                                                                   const std::string& name) {
  const std::string claim_name = std::string(kPrefix) + process_token() + '-' + name;
  if (rename_exclusively({*directory, name}, {*directory, claim_name}))
    return ClaimPath{directory, claim_name, {}};
  if (errno != ENAMETOOLONG) return std::nullopt;
  const std::string claim_directory = make_claim_directory(*directory);
  if (claim_directory.empty()) return std::nullopt;
  const DirectoryPtr inside = open_claim_directory(*directory, claim_directory);
  if (inside && rename_exclusively({*directory, name}, {*inside, name}))
    return ClaimPath{inside, name, claim_directory};
  const int error = errno;
  remove_directory(*directory, claim_directory);
  errno = error;
  return std::nullopt;
}

ClaimedFile::ClaimedFile(ClaimedFile&& other) noexcept
    : file_(std::move(other.file_)),
      expected_(other.expected_),
      directory_(std::move(other.directory_)),
      claim_path_(std::exchange(other.claim_path_, {})),
      lock_(std::move(other.lock_)) {}

ClaimedFile::~ClaimedFile() {
  if (claim_path_.name.empty()) return;
  static_cast<void>(
      release_claim({*claim_path_.directory, claim_path_.name}, {*directory_, file_.name()}));
  clear_claim_path();
}

/// The file is no longer at its claim path.
void ClaimedFile::clear_claim_path() {
  if (!claim_path_.claim_directory.empty())
    remove_directory(*directory_, claim_path_.claim_directory);
  claim_path_ = {};
}

void ClaimedFile::remove() {
  if (::unlinkat(claim_path_.directory->descriptor(), claim_path_.name.c_str(), 0) != 0 &&
      errno != ENOENT)
    fail("remove", file_.path(), errno);
  clear_claim_path();
}

void ClaimedFile::move_to(const RootDirectory& root, const fs::path& relative,
                          std::int64_t max_copy_mb) {
  const DirectoryPtr to = root.make_below(relative.parent_path());
  if (!to) fail("create the folder", root.path() / relative.parent_path(), errno);
  const DirectoryEntry from{*claim_path_.directory, claim_path_.name, file_.path()};
  for (int number = 0;; ++number) {
    const fs::path path = relative.parent_path() / numbered_name(relative.filename(), number);
    if (move_file(from, {*to, path.filename(), root.path() / path}, max_copy_mb, &expected_)) break;
  }
  clear_claim_path();
}

bool move_file(const DirectoryEntry& from, const DirectoryEntry& to, std::int64_t max_mb,
               const FileIdentity* expected) {
  const int from_folder = from.directory.descriptor(), to_folder = to.directory.descriptor();
  if (rename_no_replace(from_folder, from.name, to_folder, to.name)) return true;
  if (errno == EEXIST) return false;
  if (errno != EXDEV) fail("move to", to.path, errno);
  if (to.directory.contains(to.name)) return false;
  const std::optional<FileId> copy = copy_file(from, to, {max_mb, expected});
  if (!copy) return false;
  if (::unlinkat(from_folder, from.name.c_str(), 0) == 0 || errno == ENOENT) return true;
  const int error = errno;
  if (from.directory.contains(from.name)) remove_copied_file(to, *copy);
  fail("remove", from.path, error);
}

bool recover_stale_claim(const Directory& folder, std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view rest = name.substr(kPrefix.size());
  if (rest.starts_with(process_token())) return false;
  if (is_claim_directory(name)) return release_claim_directory(folder, std::string(name));
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos) return false;
  const EntryRef claim{folder, std::string(name)};
  return !has_live_owner(claim) &&
         release_claim(claim, {folder, std::string(rest.substr(dash + 1))});
}

}  // namespace eckart::io
