#include "reports/image_report.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <unordered_set>

#include "core/error.hpp"
#include "hash/name_hash.hpp"
#include "telemetry/json/measurement_json.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::reports {
namespace {

/// The subject of a line: an output or a failed input.
struct ReportSubject {
  std::string kind;  ///< "output" or "failure"
  std::filesystem::path path;

  /// A hash of the name as it is written in the report, where bytes that are not UTF-8 are
  /// replaced.
  std::uint64_t hash() const {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    return hash::name_hash(kind + (error ? path : absolute).lexically_normal().native());
  }
};

/// Empty if the line is truncated or not a line of a report.
std::optional<ReportSubject> parse_subject(const std::string& line) {
  const text::Json json = text::Json::parse(line, nullptr, false);
  const auto text = [&](const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const std::string output = text("output"); !output.empty())
    return ReportSubject{"output", output};
  for (const char* key : {"input", "file"}) {  // earlier versions wrote "file"
    if (const std::string input = text(key); !input.empty()) return ReportSubject{"failure", input};
  }
  return std::nullopt;
}

std::string output_line_text(const std::filesystem::path& input,
                             const std::filesystem::path& output, const char* result,
                             const text::Json& measurements) {
  text::Json json{{"kind", "output"},
                  {"input", input.native()},
                  {"output", output.native()},
                  {"result", result}};
  json.update(measurements);
  return text::dump_json(json) + '\n';
}

}  // namespace

ImageReport::ImageReport(const std::filesystem::path& file) : file_(file) {}

void ImageReport::add(const telemetry::OutputMeasurement& output) {
  write(output_line_text(output.file, output.output, "done", to_json(output)));
}

void ImageReport::add_skipped(const std::filesystem::path& file,
                              const std::filesystem::path& output,
                              const std::string& measurements) {
  text::Json json = text::Json::parse(measurements, nullptr, false);
  if (!json.is_object()) {
    json = telemetry::to_json(telemetry::OutputMeasurement{});
    for (auto& value : json) value = nullptr;
  }
  write(output_line_text(file, output, "skipped", json));
}

void ImageReport::add_failure(const std::filesystem::path& file, const Outcome& outcome) {
  write(text::dump_json({{"kind", "failure"},
                         {"input", file.native()},
                         {"result", "failed"},
                         {"reason", to_string(outcome.reason)},
                         {"stage", to_string(outcome.stage)},
                         {"detail", outcome.detail}}) +
        '\n');
}

void ImageReport::write(const std::string& text) {
  const std::lock_guard lock(mutex_);
  file_.write(text);
}

void ImageReport::close() {
  const std::lock_guard lock(mutex_);
  if (!file_.is_direct()) copy_unreplaced_lines();
  const int error = file_.publish();
  if (error != 0)
    throw FatalError(ExitCode::io_error, "report " + text::printable(file_.path().native()) +
                                             " is incomplete: " + std::strerror(error));
}

/// Copies the lines of the previous report that this one does not replace, so that a run over some
/// of the inputs, from another folder, or interrupted, loses none of them.
void ImageReport::copy_unreplaced_lines() {
  std::unordered_set<std::uint64_t> reported;
  file_.for_each_written_line([&](const std::string& line) {
    const auto subject = parse_subject(line);
    if (!subject) return;
    reported.insert(subject->hash());
    if (subject->kind == "output")  // its input no longer counts as failed
      reported.insert(
          ReportSubject{"failure", text::Json::parse(line).at("input").get<std::string>()}.hash());
  });
  file_.for_each_previous_line([&](const std::string& line) {
    const auto subject = parse_subject(line);
    if (!subject || !reported.contains(subject->hash())) file_.write(line + '\n');
  });
}

}  // namespace eckart::reports
