#include "files/read_small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file_descriptor.hpp"

namespace eckart::files {

std::optional<std::string> read_small_file(const std::filesystem::path& path,
                                           std::size_t max_bytes) {
  const FileDescriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      std::size_t(status.st_size) > max_bytes)
    return std::nullopt;
  std::string bytes(std::size_t(status.st_size), '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::pread(file.get(), bytes.data() + size, bytes.size() - size, off_t(size));
    if (got < 0) return std::nullopt;
    if (got == 0) break;  // it has become shorter
    size += std::size_t(got);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace eckart::files
