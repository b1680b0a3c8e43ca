#include "codec/opencv_decoder.hpp"

#include <climits>
#include <opencv2/core/version.hpp>
#include <stdexcept>
#include <string>

#include "build_id/module.hpp"
#include "codec/alpha.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

/// Checks those limits of OpenCV that are not implied by the limits in settings.
void check_opencv_limits(std::span<const std::byte> file, const ImageShape& shape) {
  constexpr std::int64_t kMaxPixels = std::int64_t(1) << 30;
  if (file.size() <= INT_MAX && std::int64_t(shape.rows) * shape.cols <= kMaxPixels) return;
  throw ItemError(FailureReason::too_large,
                  "OpenCV reads files below 2 GiB with at most 2^30 pixels; "
                  "use input.decoder=strict");
}

/// Of src/codec/opencv_module.cpp: `error` says why the file is corrupt.
using Decode = void (*)(std::span<const std::byte> file, const ImageShape& announced,
                        Picture& picture, std::string& error);

Decode load_decode() try {
  return reinterpret_cast<Decode>(load_function("eckart_opencv", "eckart_opencv_decode"));
} catch (const std::runtime_error& error) {
  throw FatalError(ExitCode::unavailable,
                   std::string("input.decoder=opencv is not available: ") + error.what());
}

}  // namespace

Picture decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced,
                           Deadline& deadline, std::span<const std::uint16_t> transparent_color) {
  check_opencv_limits(file, announced);
  static const Decode decode = load_decode();
  Picture picture;
  std::string error;
  decode(file, announced, picture, error);
  if (!error.empty()) throw ItemError(FailureReason::corrupt, error);
  if (deadline.passed_now()) deadline.throw_too_large();
  if (picture.alpha.empty() && !transparent_color.empty())
    picture.alpha = alpha_of_color(picture.pixels, transparent_color);
  return picture;
}

std::string opencv_version() { return CV_VERSION; }

}  // namespace eckart::codec
