#include "io/read_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "io/error_text.hpp"
#include "io/input_file.hpp"
#include "io/open_archive.hpp"

namespace eckart::io {

files::FileState state_of(const struct stat& status) {
  return {status.st_size, files::in_ns(status.st_mtim), std::int64_t(status.st_ino)};
}

files::FileState state_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return state_of(status);
  const int error = errno;
  if (error == ENOTDIR) {
    if (const std::optional<MemberPath> member = parse_member_path(path))
      return state_of(open_member(*member));
  }
  if (error == ENOENT || error == ENOTDIR)
    throw ItemError(FailureReason::not_found, "no such file");
  throw ItemError(FailureReason::unreadable, "cannot be examined: " + error_text(error));
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::int64_t max_mb) {
  const ByteBuffer bytes = InputFile(path).read_all(max_mb);
  return {bytes.begin(), bytes.end()};
}

}  // namespace eckart::io
