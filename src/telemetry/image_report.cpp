#include "telemetry/image_report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "telemetry/json.hpp"

namespace eckart::telemetry {
namespace {

/// JSON has no infinity.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(); }

FatalError error_of(ExitCode code, const std::filesystem::path& file, const char* what, int error) {
  return {code, "report " + printable(file.native()) + what + std::strerror(error)};
}

/// People mistype: a picture, or the list of inputs, is not to be replaced by what is said of it.
void check_is_report(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return;
  constexpr std::string_view kBegin = "{\"file\":";  // of every line
  std::string begin(kBegin.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), std::streamsize(begin.size()));
  if (stream.gcount() == 0 || begin == kBegin) return;
  throw FatalError(ExitCode::usage,
                   "report " + printable(file.native()) + ": this file is there, and is no report");
}

std::FILE* open(const std::filesystem::path& file, bool append) {
  if (file == "-") return fdopen(dup(STDOUT_FILENO), "w");
  check_is_report(file);
  return std::fopen(file.c_str(), append ? "ae" : "we");
}

}  // namespace

ImageReport::ImageReport(const std::filesystem::path& file, bool append)
    : path_(file), file_(open(file, append)) {
  if (!file_) throw error_of(ExitCode::cannot_create, path_, " cannot be created: ", errno);
}

void ImageReport::add(const OutputLine& line) {
  write(text_of({{"file", line.file.native()},
                 {"output", line.output.native()},
                 {"rows", line.rows},
                 {"cols", line.cols},
                 {"channels", line.channels},
                 {"bits", line.bits},
                 {"rank", line.rank},
                 {"psnr_db", finite(line.psnr_db)},
                 {"done_again", line.done_again},
                 {"energy", line.energy},
                 {"most_loss_db", finite(line.most_loss_db)}}) +
        '\n');
}

void ImageReport::add_failure(const std::filesystem::path& file, const Outcome& outcome) {
  write(text_of({{"file", file.native()},
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
  const std::lock_guard lock(mutex_);
  if (std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) throw error_of(ExitCode::io_error, path_, " is not whole: ", error_);
}

}  // namespace eckart::telemetry
