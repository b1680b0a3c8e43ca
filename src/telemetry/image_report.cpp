#include "telemetry/image_report.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <system_error>
#include <unordered_set>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "telemetry/json.hpp"

namespace eckart::telemetry {
namespace {

/// JSON has no infinity.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(); }

/// What a line of a report is about.
struct Subject {
  std::string kind;  ///< "output" or "failed"
  std::filesystem::path path;

  /// Of names as they are written, since those that are not UTF-8 are not written as they are.
  std::size_t hash() const {
    std::error_code none;
    const std::filesystem::path whole = std::filesystem::absolute(path, none);
    return std::hash<std::string>{}(kind + (none ? path : whole).lexically_normal().native());
  }
};

/// Nothing where the line is none of a report, or was cut short.
std::optional<Subject> subject_of(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  const auto text = [&](const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const std::string output = text("output"); !output.empty()) return Subject{"output", output};
  if (const std::string file = text("file"); !file.empty()) return Subject{"failed", file};
  return std::nullopt;
}

Json measured(const OutputLine& line) {
  return {{"rows", line.rows},
          {"cols", line.cols},
          {"channels", line.channels},
          {"bits", line.bits},
          {"rank", line.rank},
          {"psnr_db", finite(line.psnr_db)},
          {"done_again", line.done_again},
          {"energy", line.energy},
          {"most_loss_db", finite(line.most_loss_db)}};
}

std::string text_of_output(const std::filesystem::path& file, const std::filesystem::path& output,
                           const char* result, const Json& measured) {
  Json json{{"file", file.native()}, {"output", output.native()}, {"result", result}};
  json.update(measured);
  return text_of(json) + '\n';
}

}  // namespace

std::string measured_text(const OutputLine& line) { return measured(line).dump(); }

ImageReport::ImageReport(const std::filesystem::path& file) : file_(file) {}

void ImageReport::add(const OutputLine& line) {
  write(text_of_output(line.file, line.output, "done", measured(line)));
}

void ImageReport::add_skipped(const std::filesystem::path& file,
                              const std::filesystem::path& output, const std::string& known) {
  Json json = Json::parse(known, nullptr, false);
  if (!json.is_object()) {
    json = measured({});
    for (auto& value : json) value = nullptr;
  }
  write(text_of_output(file, output, "skipped", json));
}

void ImageReport::add_failure(const std::filesystem::path& file, const Outcome& outcome) {
  write(text_of({{"file", file.native()},
                 {"result", "failed"},
                 {"failed", to_string(outcome.reason)},
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
  if (!file_.is_direct()) keep_lines_of_before();
  const int error = file_.publish();
  if (error != 0)
    throw FatalError(ExitCode::io_error, "report " + printable(file_.path().native()) +
                                             " is not whole: " + std::strerror(error));
}

/// So that a run over some of the inputs, from another folder, or one that was stopped, takes
/// nothing from it.
void ImageReport::keep_lines_of_before() {
  std::unordered_set<std::size_t> told;
  file_.for_each_line_written([&](const std::string& line) {
    const auto subject = subject_of(line);
    if (!subject) return;
    told.insert(subject->hash());
    if (subject->kind == "output")  // whose input has failed no more
      told.insert(Subject{"failed", Json::parse(line).at("file").get<std::string>()}.hash());
  });
  file_.for_each_line_of_before([&](const std::string& line) {
    const auto subject = subject_of(line);
    if (!subject || !told.contains(subject->hash())) file_.write(line + '\n');
  });
}

}  // namespace eckart::telemetry
