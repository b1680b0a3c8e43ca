#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "files/throw_errno.hpp"
#include "io/process_token.hpp"
#include "io/read_file.hpp"
#include "io/rename_no_replace.hpp"

namespace eckart::io {
namespace {

constexpr std::string_view kPrefix = ".eckart-", kSuffix = ".tmp";

/// The name is unique within the process and among the processes that share the folder.
std::string unique_name() {
  static std::atomic<std::uint64_t> calls{0};
  std::string name(kPrefix);
  name += process_token();
  name += '-' + std::to_string(calls++);
  return name += kSuffix;
}

}  // namespace

bool is_foreign_temporary(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
         name.compare(kPrefix.size(), process_token().size(), process_token()) != 0;
}

TemporaryFile::TemporaryFile(const std::filesystem::path& folder, TemporaryName name)
    : folder_(AT_FDCWD), prefix_(folder) {
  if (name == TemporaryName::late) link_method_ = link_method(folder);
  if (link_method_ != LinkMethod::none) descriptor_ = open_unnamed(folder_, folder);
  if (!descriptor_) create(0666);
}

TemporaryFile::TemporaryFile(const Directory& folder, mode_t mode, TemporaryName name)
    : folder_(folder.descriptor()) {
  if (name == TemporaryName::late) link_method_ = link_method(folder);
  if (link_method_ != LinkMethod::none) descriptor_ = open_unnamed(folder_, ".", mode);
  if (!descriptor_) create(mode);
}

void TemporaryFile::create(mode_t mode) {
  do {
    path_ = unique_path();
    descriptor_ = files::FileDescriptor(
        ::openat(folder_, path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  } while (!descriptor_ && (errno == EEXIST || errno == EINTR));
  if (!descriptor_) files::throw_errno("cannot create a file");
}

std::filesystem::path TemporaryFile::unique_path() const { return prefix_ / unique_name(); }

TemporaryFile::~TemporaryFile() {
  if (!is_renamed_ && !path_.empty()) ::unlinkat(folder_, path_.c_str(), 0);
}

void TemporaryFile::ensure_name() {
  if (!path_.empty()) return;
  std::filesystem::path path = unique_path();
  while (!link_unnamed(descriptor_, link_method_, folder_, path)) {
    if (errno != EEXIST) files::throw_errno("cannot create a file");
    path = unique_path();
  }
  path_ = std::move(path);
}

void TemporaryFile::write(std::span<const std::byte> bytes) { write(std::span(&bytes, 1)); }

void TemporaryFile::write(std::span<const std::span<const std::byte>> parts) {
  std::vector<iovec> rest;
  for (const std::span<const std::byte>& part : parts) {
    if (!part.empty()) rest.push_back({const_cast<std::byte*>(part.data()), part.size()});
  }
  for (auto first = rest.begin(); first != rest.end();) {
    const ssize_t written = ::writev(descriptor_.get(), &*first, int(rest.end() - first));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) files::throw_errno("cannot write");
    std::size_t left = std::size_t(written);
    for (; first != rest.end() && left >= first->iov_len; ++first) left -= first->iov_len;
    if (left == 0) continue;
    first->iov_base = static_cast<std::byte*>(first->iov_base) + left;
    first->iov_len -= left;
  }
}

void TemporaryFile::set_times(const timespec& access, const timespec& modification) noexcept {
  const timespec times[] = {access, modification};
  static_cast<void>(::futimens(descriptor_.get(), times));
}

void TemporaryFile::set_mtime(std::int64_t mtime_ns) noexcept {
  constexpr std::int64_t kSecond_ns = 1000000000;
  const std::int64_t remainder = mtime_ns % kSecond_ns;
  const std::int64_t fraction = remainder < 0 ? remainder + kSecond_ns : remainder;
  set_times({.tv_sec = 0, .tv_nsec = UTIME_OMIT},
            {.tv_sec = (mtime_ns - fraction) / kSecond_ns, .tv_nsec = fraction});
}

void TemporaryFile::set_owner_and_mode(const struct stat& status) noexcept {
  mode_t mode = status.st_mode & 07777;
  if (::fchown(descriptor_.get(), status.st_uid, status.st_gid) != 0) {
    static_cast<void>(::fchown(descriptor_.get(), uid_t(-1), status.st_gid));
    // Drops setuid and setgid, because the owner or group is not that of the original.
    mode &= 0777;
  }
  static_cast<void>(::fchmod(descriptor_.get(), mode));
}

void TemporaryFile::copy_extended_attributes(const files::FileDescriptor& from) noexcept {
  std::array<char, XATTR_LIST_MAX> names;
  const ssize_t size = ::flistxattr(from.get(), names.data(), names.size());
  for (const char* name = names.data(); name < names.data() + size; name += std::strlen(name) + 1) {
    const std::string_view text = name;
    if (!text.starts_with("user.") && text != "system.posix_acl_access") continue;
    std::array<char, XATTR_SIZE_MAX> value;
    const ssize_t length = ::fgetxattr(from.get(), name, value.data(), value.size());
    if (length >= 0)
      static_cast<void>(::fsetxattr(descriptor_.get(), name, value.data(), std::size_t(length), 0));
  }
}

FileId TemporaryFile::id() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) files::throw_errno("cannot examine the file");
  return {status.st_dev, status.st_ino};
}

std::int64_t TemporaryFile::fix_mtime(std::optional<std::int64_t> mtime_ns) {
  constexpr std::chrono::milliseconds kFraction{1};
  const auto fraction = std::chrono::system_clock::now().time_since_epoch() % kFraction;
  set_mtime(mtime_ns ? *mtime_ns : this->mtime_ns() - std::chrono::nanoseconds(fraction).count());
  return this->mtime_ns();
}

std::int64_t TemporaryFile::mtime_ns() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) files::throw_errno("cannot examine the file");
  return state_of(status).mtime_ns;
}

void TemporaryFile::start_writeback() noexcept {
  // Errors are ignored: sync() reports them.
  static_cast<void>(::sync_file_range(descriptor_.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
}

void TemporaryFile::sync() {
  if (!files::sync_descriptor(descriptor_)) files::throw_errno("cannot sync");
}

void TemporaryFile::close() {
  if (path_.empty()) return;
  // On Linux the descriptor is closed even after EINTR.
  if (::close(descriptor_.release()) != 0 && errno != EINTR) files::throw_errno("cannot close");
}

void TemporaryFile::rename_to(const std::filesystem::path& path) {
  ensure_name();
  if (::renameat(folder_, path_.c_str(), folder_, path.c_str()) != 0)
    files::throw_errno("cannot rename");
  is_renamed_ = true;
}

bool TemporaryFile::rename_if_free(const std::filesystem::path& path) {
  is_renamed_ = path_.empty() ? link_unnamed(descriptor_, link_method_, folder_, path)
                              : rename_no_replace(folder_, path_, folder_, path);
  if (!is_renamed_ && errno != EEXIST) files::throw_errno("cannot rename");
  return is_renamed_;
}

}  // namespace eckart::io
