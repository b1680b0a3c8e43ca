#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.hpp"

namespace eckart::reports {

/// The value of the key `schema` of every record of a report.
inline constexpr const char* kReportSchema = "eckart.report/1";

/// The format of the file of --report. A record, of an output or of a failed input, is a JSON
/// object: on one line, or as a row of a CSV table (RFC 4180) with the same keys as columns. A
/// value of a row is null if it is empty; the elements of an array are joined by `;`.
enum class ReportFormat { json_lines, csv };

/// CSV if the name ends with .csv, in any case; otherwise JSON lines.
ReportFormat report_format_of(const std::filesystem::path& file);

/// What a report begins with: nothing, or the line with the names of the columns.
std::string report_header(ReportFormat format);

/// The record as text, with a newline at its end. Keys that are no columns of a CSV table are left
/// out.
std::string report_record(ReportFormat format, const text::Json& record);

/// Whether the first line of a file, with its newline, is that of a report of any version.
bool is_report_line(ReportFormat format, std::string_view line);

/// Whether a text may be the incomplete first line of the report of a killed run.
bool is_truncated_report_line(ReportFormat format, std::string_view text);

/// Reads the records of a report, of this or another version, line by line.
class ReportReader {
 public:
  struct Record {
    std::string text;  ///< as report_record() writes it
    text::Json json;   ///< discarded if the text is not a record
  };

  explicit ReportReader(ReportFormat format) : format_(format) {}

  /// Adds a line without its newline. Returns the record that it completes: a value of a CSV table
  /// may have several lines, and its header is no record.
  std::optional<Record> add_line(const std::string& line);

 private:
  std::optional<Record> add_row(const std::string& line);

  const ReportFormat format_;
  std::string incomplete_row_;
  std::vector<std::string> columns_;  // of the file, in its order; empty before its header
};

}  // namespace eckart::reports
