#include "pipeline/image_report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "pipeline/output_quality.hpp"

namespace eckart {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of docs/output.md

/// JSON has no infinity.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json line_of_failure(const WorkItem& item) {
  return {{"file", item.file.native()},
          {"failed", to_string(item.outcome.reason)},
          {"stage", to_string(item.outcome.stage)},
          {"detail", item.outcome.detail}};
}

Json line_of_output(const WorkItem& item, std::size_t output) {
  const ImageShape& shape = item.task.input.shape();
  Json energy = Json::array();
  int done_again = 0;
  for (const PlaneResult& plane : item.task.results[output]) {
    energy.push_back(plane.energy);
    done_again += plane.done_again;
  }
  return {{"file", item.file.native()},
          {"output", item.outputs[output].native()},
          {"rows", shape.rows},
          {"cols", shape.cols},
          {"channels", shape.channels},
          {"bits", 8 * int(shape.depth)},
          {"rank", rank_of_output(item.task, output)},
          {"psnr_db", finite(psnr_of_output(item.task, output))},
          {"done_again", done_again},
          {"energy", energy},
          {"most_loss_db", finite(most_loss_of_output(item.task, output))}};
}

std::string text_of(const Json& line) {  // names of files need not be UTF-8
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

FatalError error_of(ExitCode code, const std::filesystem::path& file, const char* what, int error) {
  return {code, "report " + printable(file.native()) + what + std::strerror(error)};
}

}  // namespace

ImageReport::ImageReport(const std::filesystem::path& file)
    : path_(file),
      file_(file == "-" ? fdopen(dup(STDOUT_FILENO), "w") : std::fopen(file.c_str(), "we")) {
  if (!file_) throw error_of(ExitCode::cannot_create, path_, " cannot be created: ", errno);
}

void ImageReport::add(const WorkItem& item) {
  std::string text;
  if (item.outcome.result == Result::failed) text = text_of(line_of_failure(item));
  if (item.outcome.result == Result::done) {
    for (std::size_t i = 0; i < item.outputs.size(); ++i) text += text_of(line_of_output(item, i));
  }
  const std::lock_guard lock(mutex_);
  if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_.get()) < text.size())
    error_ = errno;
}

void ImageReport::close() {
  const std::lock_guard lock(mutex_);
  if (std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) throw error_of(ExitCode::io_error, path_, " is not whole: ", error_);
}

}  // namespace eckart
