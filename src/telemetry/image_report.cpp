#include "telemetry/image_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "core/error.hpp"
#include "core/out_of_space.hpp"
#include "core/printable.hpp"
#include "telemetry/json.hpp"

namespace eckart::telemetry {
namespace {

/// JSON has no infinity.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(); }

FatalError error_of(ExitCode code, const std::filesystem::path& file, const char* what, int error) {
  return {code, "report " + printable(file.native()) + what + std::strerror(error)};
}

constexpr std::string_view kLineBegin = "{\"file\":";  // of every line

/// People mistype: a picture, or the list of inputs, is not to be replaced by what is said of it.
void check_is_report(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return;
  std::string begin(kLineBegin.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), std::streamsize(begin.size()));
  begin.resize(std::size_t(stream.gcount()));
  if (kLineBegin.starts_with(begin)) return;  // all of it, or as much as a killed run has written
  throw FatalError(ExitCode::usage, "report " + printable(file.native()) +
                                        ": this file is there, and is no report: name another");
}

/// Where links lead, so that a link is not replaced by a file.
std::filesystem::path place_of(const std::filesystem::path& file) {
  std::error_code none, error;
  if (file == "-" || !std::filesystem::is_symlink(file, none)) return file;
  std::filesystem::path place = std::filesystem::weakly_canonical(file, error);
  return error ? file : place;
}

/// Empty where the lines go to the file itself: a pipe, a terminal, /dev/null.
std::filesystem::path part_of(const std::filesystem::path& file) {
  std::error_code none;
  const auto type = std::filesystem::status(file, none).type();
  const bool is_replaced =
      type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found;
  if (file == "-" || !is_replaced) return {};
  return file.native() + ".part";
}

std::FILE* open(const std::filesystem::path& file, const std::filesystem::path& part) {
  if (file == "-") return fdopen(dup(STDOUT_FILENO), "w");
  check_is_report(file);
  if (part.empty()) return std::fopen(file.c_str(), "we");
  check_is_report(part);
  return std::fopen(part.c_str(), "we");
}

/// What a line of a report is about.
struct Subject {
  std::string kind;  ///< "output" or "failed"
  std::filesystem::path path;

  std::size_t hash() const {
    return std::hash<std::string>{}(kind +
                                    std::filesystem::absolute(path).lexically_normal().native());
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

/// Calls `use` with each whole line.
void for_each_line(const std::filesystem::path& file,
                   const std::function<void(const std::string& line)>& use) {
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line) && !stream.eof();) use(line);
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

ImageReport::ImageReport(const std::filesystem::path& file)
    : path_(place_of(file)), part_(part_of(path_)), file_(open(path_, part_)) {
  if (file_) return;
  const int error = errno;
  const FatalError failure = error_of(ExitCode::cannot_create, part_.empty() ? path_ : part_,
                                      " cannot be created: ", error);
  check_space(error, failure.what());
  throw failure;
}

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
  if (error_ != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) < text.size() ||
      std::fflush(file_.get()) != 0)
    error_ = errno;
}

void ImageReport::close() {
  if (!part_.empty() && error_ == 0) keep_lines_of_before();
  const std::lock_guard lock(mutex_);
  if (!part_.empty() && error_ == 0 && ::fsync(fileno(file_.get())) != 0) error_ = errno;
  if (std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
  if (!part_.empty() && error_ == 0) put_to_its_place();
  if (error_ != 0) throw error_of(ExitCode::io_error, path_, " is not whole: ", error_);
}

/// So that a run over some of the inputs, or one that was stopped, takes nothing from it.
void ImageReport::keep_lines_of_before() {
  std::error_code none;
  if (!std::filesystem::exists(path_, none)) return;
  std::unordered_set<std::size_t> told;
  for_each_line(part_, [&](const std::string& line) {
    const auto subject = subject_of(line);
    if (!subject) return;
    told.insert(subject->hash());
    if (subject->kind == "output")  // whose input has failed no more
      told.insert(Subject{"failed", Json::parse(line).at("file").get<std::string>()}.hash());
  });
  for_each_line(path_, [&](const std::string& line) {
    const auto subject = subject_of(line);
    if (subject && std::filesystem::exists(subject->path, none) &&
        told.insert(subject->hash()).second)
      write(line + '\n');
  });
}

void ImageReport::put_to_its_place() {
  if (::rename(part_.c_str(), path_.c_str()) != 0) {
    error_ = errno;
    return;
  }
  // Best effort: the file itself is on the disk.
  const std::filesystem::path parent = path_.has_parent_path() ? path_.parent_path() : ".";
  const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  static_cast<void>(::fsync(folder));
  ::close(folder);
}

}  // namespace eckart::telemetry
