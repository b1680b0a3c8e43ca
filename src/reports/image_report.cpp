#include "reports/image_report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "core/error.hpp"
#include "hash/name_hash.hpp"
#include "telemetry/json/measurement_json.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::reports {
namespace {

/// Puts the working directory before a relative path, unless that folder was removed.
std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

/// The subject of a record: an output, a measurement without an output, or a failed input. A record
/// replaces the earlier one of the same subject.
struct ReportSubject {
  std::string kind;  ///< "output", "measurement" or "failure"
  std::filesystem::path path;
  /// Of a measurement of the input `path`: its rank and color. Of a relative output: its input,
  /// because earlier versions did not record from which folder.
  std::string variant{};

  /// A hash of the name as it is written in the report, where bytes that are not UTF-8 are
  /// replaced.
  std::uint64_t hash() const {
    return hash::name_hash(kind + '\0' + absolute_path(path).native() + '\0' + variant);
  }
};

/// Empty if the record is truncated or not a record of a report.
std::optional<ReportSubject> subject_of(const text::Json& json) {
  const auto text = [&](const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string input = text("input"), earlier_input = text("file");  // of earlier versions
  if (const std::filesystem::path output = text("output"); !output.empty())
    return ReportSubject{"output", output, output.is_absolute() ? "" : input};
  if (input.empty() && earlier_input.empty()) return std::nullopt;
  if (text("kind") == "output")
    return ReportSubject{"measurement", input, text("rank_spec") + '\0' + text("color")};
  return ReportSubject{"failure", input.empty() ? earlier_input : input};
}

text::Json output_record(const std::filesystem::path& input, const std::filesystem::path& output,
                         std::string_view result, const text::Json& measurements) {
  text::Json json{
      {"kind", "output"},
      {"schema", kReportSchema},
      {"input", absolute_path(input).native()},
      {"output", output.empty() ? text::Json() : text::Json(absolute_path(output).native())},
      {"result", result}};
  json.update(measurements);
  return json;
}

/// Whether the text of a JSON object of measurements has all keys of this version, in their order,
/// as text of this version has.
bool has_all_keys(std::string_view measurements) {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names;
    const text::Json json = telemetry::to_json(telemetry::OutputMeasurement{});
    for (const auto& [key, value] : json.items()) names.push_back('"' + key + "\":");
    return names;
  }();
  std::size_t at = 0;
  return std::ranges::all_of(keys, [&](const std::string& key) {
    at = measurements.find(key, at);
    return at != measurements.npos;
  });
}

/// Older versions recorded fewer measurements.
text::Json unknown_measurements() {
  text::Json json = telemetry::to_json(telemetry::OutputMeasurement{});
  for (auto& value : json) value = nullptr;
  return json;
}

}  // namespace

ImageReport::ImageReport(const std::filesystem::path& file) : file_(file) {}

void ImageReport::add(const std::filesystem::path& file, const std::filesystem::path& output,
                      const telemetry::OutputMeasurement& measurement) {
  write(output_record(file, output, "done", to_json(measurement)));
}

void ImageReport::add_recorded(const std::filesystem::path& file,
                               const std::filesystem::path& output, ItemResult result,
                               const std::string& measurements) {
  if (file_.format() == ReportFormat::json_lines && has_all_keys(measurements)) {
    std::string line =
        text::dump_json(output_record(file, output, to_string(result), text::Json::object()));
    line.back() = ',';  // instead of the end of the object
    return write_text(line + text::printable_json(measurements.substr(1)) + '\n');
  }
  text::Json json = unknown_measurements();
  const text::Json known = text::Json::parse(measurements, nullptr, false);
  if (known.is_object()) json.update(known);
  write(output_record(file, output, to_string(result), json));
}

void ImageReport::add_failure(const std::filesystem::path& file, FailureReason reason,
                              std::optional<Stage> stage, const std::string& detail) {
  write({{"kind", "failure"},
         {"schema", kReportSchema},
         {"input", absolute_path(file).native()},
         {"result", to_string(ItemResult::failed)},
         {"reason", to_string(reason)},
         {"stage", stage ? text::Json(to_string(*stage)) : text::Json()},
         {"detail", detail}});
}

void ImageReport::write(const text::Json& record) {
  write_text(report_record(file_.format(), record));
}

void ImageReport::write_text(const std::string& text) {
  const std::lock_guard lock(mutex_);
  file_.write(text);
}

void ImageReport::close() {
  const std::lock_guard lock(mutex_);
  if (!file_.is_direct() && file_.has_previous()) copy_unreplaced_records();
  const int error = file_.publish();
  if (error == 0) return;
  const char* const remedy =
      file_.is_direct() ? "" : ". To complete it, run the same command again";
  throw FatalError(ExitCode::io_error, "report " + text::printable(file_.path().native()) +
                                           " is incomplete: " + std::strerror(error) + remedy);
}

/// Copies the records of the previous report that this one does not replace, so that a run over
/// some of the inputs, from another folder, or interrupted, loses none of them.
void ImageReport::copy_unreplaced_records() {
  std::unordered_set<std::uint64_t> reported;
  file_.for_each_written_record([&](const ReportReader::Record& record) {
    const auto subject = subject_of(record.json);
    if (!subject) return;
    reported.insert(subject->hash());
    if (subject->kind == "output")  // as an earlier version recorded it
      reported.insert(ReportSubject{"output", subject->path, record.json.at("input")}.hash());
    if (subject->kind != "failure")  // its input no longer counts as failed
      reported.insert(ReportSubject{"failure", record.json.at("input").get<std::string>()}.hash());
  });
  file_.for_each_previous_record([&](const ReportReader::Record& record) {
    const auto subject = subject_of(record.json);
    if (!subject || !reported.contains(subject->hash())) file_.write(record.text);
  });
}

}  // namespace eckart::reports
