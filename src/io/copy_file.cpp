#include "io/copy_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "core/error.hpp"
#include "core/mebibytes.hpp"
#include "io/environment_error.hpp"
#include "io/input_file.hpp"
#include "io/sync_folder.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& file, int error) {
  const std::string message = std::string("cannot ") + what + " " + file.string() + ": " +
                              std::generic_category().message(error);
  check_environment(error, message);
  throw ItemError(FailureReason::not_written, message);
}

[[noreturn]] void fail_to_copy(const fs::path& file, const std::string& why) {
  throw ItemError(FailureReason::not_written,
                  "cannot copy " + file.string() + " to another file system: " + why);
}

struct stat status_of(const DirectoryEntry& entry, const files::FileDescriptor& file) {
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) fail("read", entry.path, errno);
  return status;
}

void check_source(const DirectoryEntry& from, const struct stat& status, const CopyLimits& limits) {
  if (!S_ISREG(status.st_mode)) fail_to_copy(from.path, "it is not a regular file");
  if (limits.expected && !equal_except_ctime(identity_of(status), *limits.expected))
    fail_to_copy(from.path, "it was replaced by another file");
  if (in_mebibytes(std::uint64_t(status.st_size)) > limits.max_mb)
    fail_to_copy(from.path, "it is larger than limits.file_mb = " + std::to_string(limits.max_mb));
}

/// Throws std::system_error(ENOSPC), as a failed write would, if the disk has no space for `size`
/// bytes. Otherwise a file that is too large would fill the disk for all other writers during the
/// copy.
void check_free_space(const Directory& folder, std::int64_t size) {
  struct statvfs disk {};
  if (::fstatvfs(folder.descriptor(), &disk) != 0 || disk.f_frsize == 0) return;
  if (std::uint64_t(size) / disk.f_frsize >= disk.f_bavail)
    throw std::system_error(ENOSPC, std::generic_category());
}

/// Copies at most `size` bytes and returns how many it copied.
std::int64_t copy_bytes(const DirectoryEntry& from, const files::FileDescriptor& in,
                        std::int64_t size, TemporaryFile& to) {
  std::array<std::byte, 1 << 16> buffer;
  std::int64_t count = 0;
  while (count < size) {
    const std::size_t max_bytes = std::min(buffer.size(), std::size_t(size - count));
    const ssize_t got = ::read(in.get(), buffer.data(), max_bytes);
    if (got == 0) break;
    if (got > 0) to.write(std::span(buffer).first(std::size_t(got)));
    if (got > 0) count += got;
    if (got < 0 && errno != EINTR) fail("read", from.path, errno);
  }
  return count;
}

/// Makes the entry of the copy durable. On failure it removes the copy, so that retries do not
/// accumulate copies.
void sync_entry(const DirectoryEntry& to, const FileId& copy) {
  try {
    sync_directory(to.directory, to.path.parent_path());
  } catch (const EnvironmentError&) {
    remove_copied_file(to, copy);
    throw;
  }
}

std::optional<FileId> id_of(const DirectoryEntry& entry) {
  struct stat status {};
  const int folder = entry.directory.descriptor();
  if (::fstatat(folder, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::optional<FileId> copy_link(const DirectoryEntry& from, const DirectoryEntry& to) {
  std::array<char, PATH_MAX + 1> target{};
  const ssize_t size = ::readlinkat(from.directory.descriptor(), from.name.c_str(), target.data(),
                                    target.size() - 1);
  if (size < 0) fail("read", from.path, errno);
  sync_ancestors(to.directory, to.path.parent_path());
  if (::symlinkat(target.data(), to.directory.descriptor(), to.name.c_str()) != 0) {
    if (errno == EEXIST) return std::nullopt;
    fail("write", to.path, errno);
  }
  const std::optional<FileId> copy = id_of(to);
  if (!copy) fail("write", to.path, errno);
  sync_entry(to, *copy);
  return copy;
}

bool is_link(const DirectoryEntry& entry) {
  struct stat status {};
  return ::fstatat(entry.directory.descriptor(), entry.name.c_str(), &status,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

}  // namespace

std::optional<FileId> copy_file(const DirectoryEntry& from, const DirectoryEntry& to,
                                const CopyLimits& limits) {
  if (is_link(from)) return copy_link(from, to);
  const files::FileDescriptor in(
      ::openat(from.directory.descriptor(), from.name.c_str(), InputFile::kOpenFlags | O_NOFOLLOW));
  const struct stat before = status_of(from, in);
  check_source(from, before, limits);
  try {
    check_free_space(to.directory, before.st_size);
    // A large copy takes long, and nothing may be left of it in a folder that is not ours alone.
    TemporaryFile file(to.directory, 0600, TemporaryName::late);
    const std::int64_t count = copy_bytes(from, in, before.st_size, file);
    const FileIdentity after = identity_of(status_of(from, in));
    if (count != before.st_size || !equal_except_ctime(after, identity_of(before)))
      fail_to_copy(from.path, "it changed during the copy");
    file.set_times(before.st_atim, before.st_mtim);
    file.set_owner_and_mode(before);
    file.copy_extended_attributes(in);
    file.sync();
    const FileId copy = file.id();
    file.close();
    sync_ancestors(to.directory, to.path.parent_path());
    if (!file.rename_if_free(to.name)) return std::nullopt;
    sync_entry(to, copy);
    return copy;
  } catch (const std::system_error& error) {
    fail("write", to.path, error.code().value());
  }
}

void remove_copied_file(const DirectoryEntry& entry, const FileId& copy) {
  if (id_of(entry) == copy) ::unlinkat(entry.directory.descriptor(), entry.name.c_str(), 0);
}

}  // namespace eckart::io
