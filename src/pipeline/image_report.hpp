#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>

#include "pipeline/work_item.hpp"

namespace eckart {

/// A line of JSON for each output, and for each image that failed; docs/output.md has the keys.
/// Thread-safe.
class ImageReport {
 public:
  /// Writes to this file, or to stdout if it is `-`. A file that is there is replaced. Throws
  /// FatalError(cannot_create).
  explicit ImageReport(const std::filesystem::path& file);

  void add(const WorkItem& item);
  /// Brings the lines to the file. Throws FatalError(io_error) where not all of them got there.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const std::filesystem::path path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // the first
};

}  // namespace eckart
