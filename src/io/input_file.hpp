#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "files/file_descriptor.hpp"
#include "files/file_state.hpp"

namespace eckart::io {

/// A regular file that is open for reading. Every answer is about the open file, whatever has its
/// path by now.
class InputFile {
 public:
  /// The flags of open(2) and openat2(2). Without O_NONBLOCK, opening a FIFO waits for a writer.
  static constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

  /// Throws ItemError: not_found, unreadable (with the system's reason; also for folders, FIFOs and
  /// devices); EnvironmentError if the process has no more descriptors or memory.
  explicit InputFile(const std::filesystem::path& path);

  /// Takes a descriptor that was opened with kOpenFlags. Throws as above.
  explicit InputFile(FileDescriptor descriptor);

  /// When the file was opened.
  const FileState& state() const { return state_; }
  std::int64_t size() const { return state_.size; }

  /// Reads from `offset` until the buffer is full or the file ends; returns the count of bytes.
  /// Throws ItemError: unreadable.
  std::size_t read_at(std::int64_t offset, std::span<std::byte> buffer) const;

  /// Throws ItemError(too_large) if size() is over `max_mb` MiB.
  void check_size(std::int64_t max_mb) const;

  /// The first size() bytes, fewer if the file was truncated meanwhile. Throws as read_at() and
  /// check_size(); ItemError(empty_file) if there are none.
  std::vector<std::byte> read_all(std::int64_t max_mb) const;

  const FileDescriptor& descriptor() const { return descriptor_; }

 private:
  FileDescriptor descriptor_;
  FileState state_;
};

}  // namespace eckart::io
