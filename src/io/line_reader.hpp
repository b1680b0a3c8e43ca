#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// The lines of a file, a pipe or a terminal, whose next line may be long in coming. Used by one
/// thread at a time.
class LineReader {
 public:
  /// `-` is stdin. Throws FatalError(no_input) with the file and the system's reason.
  explicit LineReader(const std::filesystem::path& file);

  /// The next line without its end; nothing at the end, and as soon as `stop` is requested. Throws
  /// FatalError: no_input when the file cannot be read to its end, usage when a null byte or an
  /// endless line shows that it is no list.
  std::optional<std::string> next(const std::stop_token& stop);

 private:
  /// Waits until there is something to read, then reads it; false at the end or when stopped.
  bool read_more(const std::stop_token& stop);

  const std::string name_;
  const FileDescriptor file_;
  const FileDescriptor wake_descriptor_;  // an eventfd: readable once a stop was requested
  std::string text_;
  std::size_t begin_ = 0;  // of the next line, in text_
  bool ended_ = false;
};

}  // namespace eckart::io
