#include "io/file_comparison.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "files/file_descriptor.hpp"
#include "io/environment_error.hpp"
#include "io/error_text.hpp"

namespace eckart::io {
namespace {

/// Returns an invalid descriptor if it is not a regular file or cannot be opened. Throws
/// EnvironmentError if descriptors or memory ran out, because the files are not the cause.
files::FileDescriptor open_regular(const std::filesystem::path& path) {
  // O_NONBLOCK: without it, opening a FIFO would wait for a writer.
  files::FileDescriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file) check_exhaustion(errno, "cannot open " + path.string() + ": " + error_text(errno));
  struct stat status {};
  const bool is_regular = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  return is_regular ? std::move(file) : files::FileDescriptor();
}

/// Reads from `offset` until the buffer is full or the file ends. Returns the number of bytes, or
/// -1 on an error.
ssize_t read_full(const files::FileDescriptor& file, off_t offset, std::span<std::byte> buffer) {
  std::size_t count = 0;
  while (count < buffer.size()) {
    const ssize_t got =
        ::pread(file.get(), buffer.data() + count, buffer.size() - count, offset + off_t(count));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return -1;
    if (got > 0) count += std::size_t(got);
  }
  return ssize_t(count);
}

FileComparison compare_open(const files::FileDescriptor& a, const files::FileDescriptor& b) {
  if (!a || !b) return FileComparison::different;
  std::array<std::byte, 1 << 16> bytes_a, bytes_b;
  for (off_t offset = 0;; offset += off_t(bytes_a.size())) {
    const ssize_t count_a = read_full(a, offset, bytes_a), count_b = read_full(b, offset, bytes_b);
    if (count_a < 0 || count_a > count_b ||
        !std::equal(bytes_a.begin(), bytes_a.begin() + count_a, bytes_b.begin()))
      return FileComparison::different;
    if (count_a < count_b) return FileComparison::prefix;
    if (count_a < ssize_t(bytes_a.size())) return FileComparison::same;
  }
}

}  // namespace

FileComparison compare_files(const std::filesystem::path& file,
                             const std::filesystem::path& whole) {
  return compare_open(open_regular(file), open_regular(whole));
}

FileComparison compare_files(const std::filesystem::path& file, const InputFile& whole) {
  return compare_open(open_regular(file), whole.descriptor());
}

}  // namespace eckart::io
