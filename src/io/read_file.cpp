#include "io/read_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "io/input_file.hpp"

namespace eckart::io {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace

FileState state_of(const struct stat& status) {
  // Wraps in the year 2262. Only differences between times matter.
  constexpr std::uint64_t kSecond = 1000000000;
  const std::uint64_t mtime_ns =
      std::uint64_t(status.st_mtim.tv_sec) * kSecond + std::uint64_t(status.st_mtim.tv_nsec);
  return {status.st_size, std::int64_t(mtime_ns), std::int64_t(status.st_ino)};
}

FileState state_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw ItemError(FailureReason::not_found, "no such file");
    throw ItemError(FailureReason::unreadable, "cannot be examined: " + error_text(errno));
  }
  return state_of(status);
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::int64_t max_mb) {
  return InputFile(path).read_all(max_mb);
}

}  // namespace eckart::io
