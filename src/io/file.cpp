#include "io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "io/descriptor.hpp"
#include "io/environment.hpp"

namespace eckart::io {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

std::string reason_of(int error) { return std::generic_category().message(error); }

/// Open for reading.
class InputFile {
 public:
  // O_NONBLOCK: a FIFO without a writer would be waited for.
  explicit InputFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
    if (descriptor_) return;
    if (errno == ENOENT || errno == ENOTDIR) throw ItemError(Reason::not_found, "no such file");
    const int error = errno;
    check_exhaustion(error, "cannot open " + path.string() + ": " + reason_of(error));
    throw ItemError(Reason::unreadable, "cannot be opened: " + reason_of(error));
  }

  std::int64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0) fail_read();
    if (S_ISDIR(status.st_mode)) throw ItemError(Reason::unreadable, "is a folder");
    if (!S_ISREG(status.st_mode)) throw ItemError(Reason::unreadable, "is not a regular file");
    return status.st_size;
  }

  /// As many bytes as there are, up to the buffer's size; their count.
  std::size_t read(std::span<std::byte> buffer) {
    std::size_t count = 0;
    while (count < buffer.size()) {
      const ssize_t got = ::read(descriptor_.get(), buffer.data() + count, buffer.size() - count);
      if (got == 0) break;
      if (got < 0 && errno != EINTR) fail_read();
      if (got > 0) count += std::size_t(got);
    }
    return count;
  }

 private:
  [[noreturn]] static void fail_read() {
    throw ItemError(Reason::unreadable, "cannot be read: " + reason_of(errno));
  }

  const Descriptor descriptor_;
};

}  // namespace

FileState state_of(const struct stat& status) {
  // Wraps in the year 2262: all that matters is that another time is another number.
  constexpr std::uint64_t kSecond = 1000000000;
  const std::uint64_t mtime_ns =
      std::uint64_t(status.st_mtim.tv_sec) * kSecond + std::uint64_t(status.st_mtim.tv_nsec);
  return {status.st_size, std::int64_t(mtime_ns), std::int64_t(status.st_ino)};
}

FileState state_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw ItemError(Reason::not_found, "no such file");
    throw ItemError(Reason::unreadable, "cannot be looked at: " + reason_of(errno));
  }
  return state_of(status);
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::int64_t max_mb) {
  InputFile file(path);
  const std::int64_t size = file.size();
  if (size / kMiB + (size % kMiB != 0) > max_mb) {
    throw ItemError(Reason::too_large,
                    "a file of " + std::to_string(size) +
                        " bytes is over limits.file_mb = " + std::to_string(max_mb));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  bytes.resize(file.read(bytes));
  if (bytes.empty()) throw ItemError(Reason::empty_file, "the file is empty");
  return bytes;
}

}  // namespace eckart::io
