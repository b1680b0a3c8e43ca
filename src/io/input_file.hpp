#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "codec/file_bytes.hpp"
#include "core/byte_buffer.hpp"
#include "files/file_descriptor.hpp"
#include "files/file_state.hpp"

namespace eckart::io {

struct OpenArchive;

/// A regular file, or a file in a tar archive, that is open for reading. All members refer to the
/// open file, whatever file is at its path now.
class InputFile {
 public:
  /// Flags for open(2) and openat2(2). Without O_NONBLOCK, opening a FIFO waits for a writer.
  static constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

  /// `path` may lead into an archive; see MemberPath. Throws ItemError: not_found, or unreadable
  /// with the system's message (also for folders, FIFOs and devices) or the problem of a member.
  /// Throws EnvironmentError if file descriptors or memory ran out.
  explicit InputFile(const std::filesystem::path& path);

  /// Takes a descriptor that was opened with kOpenFlags. Throws ItemError(unreadable).
  explicit InputFile(files::FileDescriptor descriptor);

  /// The state when the file was opened; of a file in an archive, state_of(OpenMember).
  const files::FileState& state() const { return state_; }
  std::int64_t size() const { return state_.size; }

  /// Reads from `offset` until the buffer is full or the file ends. Returns the number of bytes.
  /// Throws ItemError(unreadable).
  std::size_t read_at(std::int64_t offset, std::span<std::byte> buffer) const;

  /// Throws ItemError(too_large) if size() exceeds `max_mb` MiB.
  void check_size(std::int64_t max_mb) const;

  /// Returns the first size() bytes, or fewer if the file was truncated after opening. Throws like
  /// read_at() and check_size(), and ItemError(empty_file) if there are none.
  ByteBuffer read_all(std::int64_t max_mb) const;

  /// Bytes that are read on demand; valid while the file is open.
  codec::FileBytes bytes_on_demand() const;

  /// Whether it is in an archive.
  bool is_member() const { return archive_ != nullptr; }
  /// Of the archive, if it is in one.
  const files::FileDescriptor& descriptor() const;
  files::FileDescriptor take_descriptor() && { return std::move(descriptor_); }

 private:
  files::FileDescriptor descriptor_;  // invalid if it is in an archive
  std::shared_ptr<const OpenArchive> archive_;
  std::int64_t begin_ = 0;  // of the content, in bytes of the descriptor
  files::FileState state_;
};

}  // namespace eckart::io
