#include "io/watch/look.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "io/file.hpp"

namespace eckart::io {
namespace {

// Wraps in the year 2262, as state_of() does.
std::int64_t ns_of(const timespec& time) {
  return std::int64_t(std::uint64_t(time.tv_sec) * 1000000000 + std::uint64_t(time.tv_nsec));
}

}  // namespace

Look look_at(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const bool gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    return {Look::nothing, {}, gone ? 0 : errno};
  }
  if (S_ISDIR(status.st_mode)) return {Look::folder, {}, 0};
  if (!S_ISREG(status.st_mode)) return {Look::other, {}, 0};
  return {Look::file, {state_of(status), ns_of(status.st_ctim)}, 0};
}

std::chrono::nanoseconds age_of(const Seen& seen) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return now - std::chrono::nanoseconds(seen.ctime_ns);
}

std::optional<FolderId> folder_at(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  errno = ENOTDIR;
  if (!S_ISDIR(status.st_mode)) return std::nullopt;
  return FolderId{status.st_dev, status.st_ino};
}

}  // namespace eckart::io
