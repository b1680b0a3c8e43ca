#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// Reads lines from a file, a pipe or a terminal, which may block for a long time. Used by one
/// thread at a time.
class LineReader {
 public:
  /// `-` is stdin. `separator`: ends a line, a newline or a null byte. Throws FatalError(no_input)
  /// with the file name and the system's message.
  explicit LineReader(const std::filesystem::path& file, char separator = '\n');

  /// Returns the next line without its separator. Returns nullopt at the end, and as soon as `stop`
  /// is requested. Throws FatalError: no_input if reading fails, usage if a null byte that is no
  /// separator, newlines without any null byte, or a line of more than 64 KiB show that the file is
  /// not such a list.
  std::optional<std::string> next(const std::stop_token& stop);

 private:
  /// Waits for data and reads it. Returns false at the end of the file or after a stop request.
  bool read_more(const std::stop_token& stop);
  /// Throws if text_ is from a list with newlines, but null bytes were expected.
  void check_kind_of_list() const;

  const char separator_;
  const std::string name_;
  const files::FileDescriptor file_;
  const files::FileDescriptor wake_descriptor_;  // an eventfd that is readable after a stop request
  std::string text_;
  std::size_t begin_ = 0;  // where the next line starts in text_
  bool is_at_end_ = false;
  bool has_found_separator_ = false;
};

}  // namespace eckart::io
