#include "io/watch/file_observation.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace eckart::io {

std::chrono::nanoseconds age_of(const FileFingerprint& fingerprint) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return now - std::chrono::nanoseconds(fingerprint.identity.ctime_ns);
}

std::optional<FileId> directory_id_at(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  errno = ENOTDIR;
  if (!S_ISDIR(status.st_mode)) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

}  // namespace eckart::io
