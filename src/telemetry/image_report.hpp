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

/// What is measured of it, as a JSON object, for a ledger to keep.
std::string measured_text(const OutputLine& line);

/// A line of JSON for each output, and for each image that failed; docs/output.md has the keys.
/// The lines go to FILE.part, each at once, and FILE is replaced by it in close(): a report that is
/// there is never cut short. Thread-safe.
class ImageReport {
 public:
  /// `-` is stdout; to that, and to what is no regular file, the lines go as they come. Throws
  /// FatalError: cannot_create, and usage where the file, or FILE.part, is no report; and
  /// EnvironmentError where there is no space.
  explicit ImageReport(const std::filesystem::path& file);

  void add(const OutputLine& line);
  /// Of an output that was made before; `measured` as measured_text() gives it, empty where it is
  /// not known.
  void add_skipped(const std::filesystem::path& file, const std::filesystem::path& output,
                   const std::string& measured);
  void add_failure(const std::filesystem::path& file, const Outcome& outcome);
  /// Puts the report to its place, durably. Of the report that is there it keeps the lines of other
  /// outputs that exist, and of other inputs that failed and exist. Throws FatalError(io_error)
  /// where a line is lost: the report that is there stays then.
  void close();

 private:
  void write(const std::string& text);
  void keep_lines_of_before();
  void put_to_its_place();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const std::filesystem::path path_;
  const std::filesystem::path part_;  // where the lines go until close(); empty: to path_
  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // the first
};

}  // namespace eckart::telemetry
