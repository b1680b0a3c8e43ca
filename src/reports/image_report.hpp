#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "core/outcome.hpp"
#include "reports/report_file.hpp"
#include "telemetry/output_measurement.hpp"
#include "text/json.hpp"

namespace eckart::reports {

/// The report of --report: a record for each output and for each failed image, with the keys of
/// docs/reference/summary.md, as JSON lines or CSV. Paths of inputs are written as absolute ones,
/// as the ledger has them. Records are written at once. An existing report is never left incomplete
/// (see ReportFile). Thread-safe.
class ImageReport {
 public:
  /// Throws the errors of the constructor of ReportFile.
  explicit ImageReport(const std::filesystem::path& file);

  /// Adds an output of this run. `output`: empty if no file was written.
  void add(const std::filesystem::path& file, const std::filesystem::path& output,
           const telemetry::OutputMeasurement& measurement);
  /// Adds an output of an earlier run, with the result `skipped` or `done`. `measurements`: the
  /// text of telemetry::to_json(), or empty if unknown.
  void add_recorded(const std::filesystem::path& file, const std::filesystem::path& output,
                    ItemResult result, const std::string& measurements);
  /// `stage`: none if it is unknown.
  void add_failure(const std::filesystem::path& file, FailureReason reason,
                   std::optional<Stage> stage, const std::string& detail);
  /// Publishes the report durably. Keeps the records of the previous report, except those that this
  /// one replaces: of the same output; of the same input, rank and color, if there is no output;
  /// and failures of inputs that have a record now. Throws FatalError(io_error) if a record could
  /// not be written; then the previous report is kept.
  void close();

 private:
  void write(const text::Json& record);
  void write_text(const std::string& text);
  void copy_unreplaced_records();

  std::mutex mutex_;
  ReportFile file_;
};

}  // namespace eckart::reports
