#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "reports/report_file.hpp"
#include "telemetry/output_measurement.hpp"

namespace eckart::reports {

/// The report of --report: a JSON line for each output and for each failed image, with the keys of
/// docs/reference/summary.md. Lines are written at once. An existing report is never left
/// incomplete (see ReportFile). Thread-safe.
class ImageReport {
 public:
  /// Throws the errors of the constructor of ReportFile.
  explicit ImageReport(const std::filesystem::path& file);

  void add(const telemetry::OutputMeasurement& output);
  /// Adds an output of an earlier run. `measurements`: the text of telemetry::to_json(), or empty
  /// if unknown.
  void add_skipped(const std::filesystem::path& file, const std::filesystem::path& output,
                   const std::string& measurements);
  void add_failure(const std::filesystem::path& file, const Outcome& outcome);
  /// Publishes the report durably. Keeps the lines of the previous report, except for outputs and
  /// failed inputs that have a line in this one. Throws FatalError(io_error) if a line could not be
  /// written; then the previous report is kept.
  void close();

 private:
  void write(const std::string& text);
  void copy_unreplaced_lines();

  std::mutex mutex_;
  ReportFile file_;
};

}  // namespace eckart::reports
