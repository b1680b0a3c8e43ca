#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "codec/file_bytes.hpp"
#include "core/byte_buffer.hpp"
#include "files/file_descriptor.hpp"
#include "files/file_state.hpp"

namespace eckart::io {

/// A regular file that is open for reading. All members refer to the open file, whatever file is at
/// its path now.
class InputFile {
 public:
  /// Flags for open(2) and openat2(2). Without O_NONBLOCK, opening a FIFO waits for a writer.
  static constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

  /// Throws ItemError: not_found, or unreadable with the system's message (also for folders, FIFOs
  /// and devices). Throws EnvironmentError if file descriptors or memory ran out.
  explicit InputFile(const std::filesystem::path& path);

  /// Takes a descriptor that was opened with kOpenFlags. Throws ItemError(unreadable).
  explicit InputFile(files::FileDescriptor descriptor);

  /// The state when the file was opened.
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

  const files::FileDescriptor& descriptor() const { return descriptor_; }

 private:
  files::FileDescriptor descriptor_;
  files::FileState state_;
};

}  // namespace eckart::io
