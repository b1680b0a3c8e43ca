#include "io/input_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/mebibytes.hpp"
#include "io/environment_error.hpp"
#include "io/error_text.hpp"
#include "io/read_file.hpp"

namespace eckart::io {
namespace {

[[noreturn]] void fail_read() {
  throw ItemError(FailureReason::unreadable, "cannot be read: " + error_text(errno));
}

files::FileDescriptor open_input(const std::filesystem::path& path) {
  files::FileDescriptor descriptor(::open(path.c_str(), InputFile::kOpenFlags));
  if (descriptor) return descriptor;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR)
    throw ItemError(FailureReason::not_found, "no such file");
  check_exhaustion(error, "cannot open " + path.string() + ": " + error_text(error));
  throw ItemError(FailureReason::unreadable, "cannot be opened: " + error_text(error));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : InputFile(open_input(path)) {}

InputFile::InputFile(files::FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) fail_read();
  if (S_ISDIR(status.st_mode)) throw ItemError(FailureReason::unreadable, "is a folder");
  if (!S_ISREG(status.st_mode)) throw ItemError(FailureReason::unreadable, "is not a regular file");
  state_ = state_of(status);
}

std::size_t InputFile::read_at(std::int64_t offset, std::span<std::byte> buffer) const {
  std::size_t count = 0;
  while (count < buffer.size()) {
    const ssize_t got = ::pread(descriptor_.get(), buffer.data() + count, buffer.size() - count,
                                offset + std::int64_t(count));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) fail_read();
    if (got > 0) count += std::size_t(got);
  }
  return count;
}

void InputFile::check_size(std::int64_t max_mb) const {
  if (in_mebibytes(std::uint64_t(size())) <= max_mb) return;
  throw ItemError(FailureReason::too_large,
                  "a file of " + std::to_string(size()) +
                      " bytes exceeds limits.file_mb = " + std::to_string(max_mb));
}

ByteBuffer InputFile::read_all(std::int64_t max_mb) const {
  check_size(max_mb);
  ByteBuffer bytes(static_cast<std::size_t>(size()));
  bytes.resize(read_at(0, bytes));
  if (bytes.empty()) throw ItemError(FailureReason::empty_file, "the file is empty");
  return bytes;
}

codec::FileBytes InputFile::bytes_on_demand() const {
  return {std::size_t(size()), [this](std::size_t offset, std::span<std::byte> buffer) {
            return read_at(std::int64_t(offset), buffer);
          }};
}

}  // namespace eckart::io
