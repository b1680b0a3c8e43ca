#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/byte_buffer.hpp"
#include "core/error.hpp"

namespace eckart::io {

/// Reads files one after the other, and some of the next ones on other threads meanwhile. Used by
/// one thread.
class ReadAhead {
 public:
  struct File {
    ByteBuffer bytes;
    std::int64_t mtime_ns = 0;         ///< in ns since 1970
    std::optional<ItemError> failure;  ///< of reading this file; then it has no bytes
  };

  /// `names` are relative to `folder`, and must outlive this object.
  ReadAhead(std::filesystem::path folder, std::span<const std::string> names);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Returns the next file; there must be one. Throws EnvironmentError if descriptors or memory ran
  /// out.
  File next();

 private:
  using Group = std::vector<File>;
  void start_groups();
  void adapt_group_files();

  const std::filesystem::path folder_;
  std::span<const std::string> left_;  // names that no thread reads yet
  std::size_t group_files_ = 1;        // of the next group; its files may be large
  std::deque<std::future<Group>> groups_;
  Group current_;
  std::size_t next_ = 0;  // index in current_
};

}  // namespace eckart::io
