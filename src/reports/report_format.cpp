#include "reports/report_format.hpp"

#include <algorithm>
#include <utility>

#include "reports/csv.hpp"
#include "telemetry/json/measurement_json.hpp"
#include "text/ascii.hpp"

namespace eckart::reports {
namespace {

/// Every JSON line begins with one of these. The last is of older versions.
constexpr std::string_view kJsonPrefixes[] = {R"({"kind":"output",)", R"({"kind":"failure",)",
                                              R"({"file":)"};
constexpr const char* kFirstColumns[] = {"kind",   "schema", "input", "output",
                                         "result", "reason", "stage", "detail"};

std::vector<std::string> columns() {
  std::vector<std::string> names(std::begin(kFirstColumns), std::end(kFirstColumns));
  const text::Json measurements = telemetry::to_json(telemetry::OutputMeasurement{});
  for (const auto& [key, value] : measurements.items()) names.push_back(key);
  return names;
}

std::string csv_value(const text::Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) {
    // Bytes that are not UTF-8 become U+FFFD, as in JSON lines.
    return text::Json::parse(text::dump_json(value)).get<std::string>();
  }
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const text::Json& element : value) {
    if (&element != &value.front()) joined += ';';
    joined += csv_value(element);
  }
  return joined;
}

/// Whether this is a JSON line of a report. Older versions wrote "file" instead of "input",
/// "failed" instead of "reason", and at first no "result".
bool is_json_report_line(std::string_view line) {
  const text::Json json = text::Json::parse(line, nullptr, false);
  if (!json.is_object()) return false;
  const auto has = [&](const char* key) { return json.contains(key); };
  const auto input = json.find(has("input") ? "input" : "file");
  if (input == json.end() || !input->is_string()) return false;
  return has("result") || (has("output") && has("rank")) || (has("failed") && has("stage"));
}

/// Every version begins with the first columns.
std::string first_columns() {
  return csv_row({std::begin(kFirstColumns), std::end(kFirstColumns)});
}

std::string_view without_line_break(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

ReportFormat report_format_of(const std::filesystem::path& file) {
  return text::to_lower_ascii(file.extension().native()) == ".csv" ? ReportFormat::csv
                                                                   : ReportFormat::json_lines;
}

std::string report_header(ReportFormat format) {
  return format == ReportFormat::csv ? csv_row(columns()) : std::string();
}

std::string report_record(ReportFormat format, const text::Json& record) {
  if (format == ReportFormat::json_lines) return text::dump_json(record) + '\n';
  std::vector<std::string> values;
  for (const std::string& column : columns()) {
    const auto found = record.find(column);
    values.push_back(found == record.end() ? std::string() : csv_value(*found));
  }
  return csv_row(values);
}

bool is_report_line(ReportFormat format, std::string_view line) {
  if (format == ReportFormat::json_lines) return is_json_report_line(line);
  const std::string columns = first_columns();
  return line.starts_with(without_line_break(columns));
}

bool is_truncated_report_line(ReportFormat format, std::string_view text) {
  const auto is_start_of_both = [&](std::string_view prefix) {
    return text.starts_with(prefix) || prefix.starts_with(text);
  };
  if (format == ReportFormat::csv) return is_start_of_both(without_line_break(first_columns()));
  return std::ranges::any_of(kJsonPrefixes, is_start_of_both);
}

std::optional<ReportReader::Record> ReportReader::add_line(const std::string& line) {
  if (format_ == ReportFormat::csv) return add_row(line);
  return Record{line + '\n', text::Json::parse(line, nullptr, false)};
}

/// The values stay texts: written again, they are the same.
std::optional<ReportReader::Record> ReportReader::add_row(const std::string& line) {
  incomplete_row_ += line;
  if (!is_complete_csv_row(incomplete_row_)) {
    incomplete_row_ += '\n';
    return std::nullopt;
  }
  const std::vector<std::string> values =
      csv_values(without_line_break(std::exchange(incomplete_row_, {})));
  if (columns_.empty()) {
    columns_ = values;
    return std::nullopt;
  }
  text::Json json = text::Json::object();
  for (std::size_t i = 0; i < std::min(values.size(), columns_.size()); ++i) {
    if (!values[i].empty()) json[columns_[i]] = values[i];
  }
  return Record{report_record(ReportFormat::csv, json), std::move(json)};
}

}  // namespace eckart::reports
