#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/outcome.hpp"

namespace eckart::telemetry {

/// What is known of one output.
struct OutputLine {
  std::filesystem::path file, output;
  int rows = 0, cols = 0, channels = 0, bits = 0;
  int rank = 0;
  double psnr_db = 0;            ///< infinity where exact
  int done_again = 0;            ///< channels that the first solver did not settle
  std::vector<double> energy{};  ///< one a channel
  double most_loss_db = 0;       ///< infinity where there is no bound
};

/// A line of JSON for each output, and for each image that failed; docs/output.md has the keys.
/// Thread-safe.
class ImageReport {
 public:
  /// Writes to this file, or to stdout if it is `-`: each line at once. A report that is there is
  /// replaced, or gets further lines. Throws FatalError: cannot_create, and usage where the file is
  /// no report.
  explicit ImageReport(const std::filesystem::path& file, bool append = false);

  void add(const OutputLine& line);
  void add_failure(const std::filesystem::path& file, const Outcome& outcome);
  /// Throws FatalError(io_error) where not all of them got there.
  void close();

 private:
  void write(const std::string& text);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const std::filesystem::path path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // the first
};

}  // namespace eckart::telemetry
