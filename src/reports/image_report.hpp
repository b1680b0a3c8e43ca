#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "reports/report_file.hpp"
#include "telemetry/output_measurement.hpp"

namespace eckart::reports {

/// A line of JSON for each output, and for each image that failed; docs/reference/summary.md has
/// the keys. Each is written at once, and the report that is there is never cut short (ReportFile).
/// Thread-safe.
class ImageReport {
 public:
  /// Throws as ReportFile's.
  explicit ImageReport(const std::filesystem::path& file);

  void add(const telemetry::OutputMeasurement& line);
  /// Of an output that was made before; `measured` as telemetry::measurements_json() gives it,
  /// empty where it is not known.
  void add_skipped(const std::filesystem::path& file, const std::filesystem::path& output,
                   const std::string& measured);
  void add_failure(const std::filesystem::path& file, const Outcome& outcome);
  /// Puts the report to its place, durably. Of the report that is there it keeps every line but
  /// those of outputs, and of inputs that failed, that this one has a line for. Throws
  /// FatalError(io_error) where a line is lost: the report that is there stays then.
  void close();

 private:
  void write(const std::string& text);
  void copy_unreplaced_lines();

  std::mutex mutex_;
  ReportFile file_;
};

}  // namespace eckart::reports
