#include "io/input_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/mebibytes.hpp"
#include "io/environment_error.hpp"
#include "io/error_text.hpp"
#include "io/open_archive.hpp"
#include "io/read_file.hpp"

namespace eckart::io {
namespace {

[[noreturn]] void fail_read() {
  throw ItemError(FailureReason::unreadable, "cannot be read: " + error_text(errno));
}

[[noreturn]] void fail_open(const std::filesystem::path& path, int error) {
  if (error == ENOENT || error == ENOTDIR)
    throw ItemError(FailureReason::not_found, "no such file");
  check_exhaustion(error, "cannot open " + path.string() + ": " + error_text(error));
  throw ItemError(FailureReason::unreadable, "cannot be opened: " + error_text(error));
}

files::FileState state_of_regular(const files::FileDescriptor& descriptor) {
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail_read();
  if (S_ISDIR(status.st_mode)) throw ItemError(FailureReason::unreadable, "is a folder");
  if (!S_ISREG(status.st_mode)) throw ItemError(FailureReason::unreadable, "is not a regular file");
  return state_of(status);
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), kOpenFlags)) {
  if (descriptor_) {
    state_ = state_of_regular(descriptor_);
    return;
  }
  const int error = errno;
  const std::optional<MemberPath> member_path =
      error == ENOTDIR ? parse_member_path(path) : std::nullopt;
  if (!member_path) fail_open(path, error);
  const OpenMember member = open_member(*member_path);
  archive_ = member.archive;
  begin_ = member.member->offset;
  state_ = state_of(member);
}

InputFile::InputFile(files::FileDescriptor descriptor)
    : descriptor_(std::move(descriptor)), state_(state_of_regular(descriptor_)) {}

const files::FileDescriptor& InputFile::descriptor() const {
  return archive_ ? archive_->archive.descriptor() : descriptor_;
}

std::size_t InputFile::read_at(std::int64_t offset, std::span<std::byte> buffer) const {
  if (archive_) {
    const std::int64_t left = std::max<std::int64_t>(size() - offset, 0);
    buffer = buffer.first(std::min(buffer.size(), std::size_t(left)));
  }
  std::size_t count = 0;
  while (count < buffer.size()) {
    const ssize_t got = ::pread(descriptor().get(), buffer.data() + count, buffer.size() - count,
                                begin_ + offset + std::int64_t(count));
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
