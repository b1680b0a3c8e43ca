#include "pipeline/measure.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "analysis/comparison.hpp"
#include "analysis/ssim.hpp"
#include "core/error.hpp"
#include "preparation/gray.hpp"

namespace eckart::pipeline {
namespace {

Image decode_output(const codec::Codec& codec, std::span<const std::byte> file) try {
  constexpr ImageLimits kNoLimits{.decode_mb = 1 << 24, .decode_s = 86400};
  return codec.decode(file, kNoLimits).pixels;
} catch (const ItemError& error) {
  throw ItemError(FailureReason::not_written,
                  std::string("the encoded output does not decode: ") + error.what());
}

/// That of the file of an output, if the backend has encoded and measured it.
std::optional<double> known_squared_error(const compute::Task& task, std::size_t output) {
  if (output >= task.encoded_outputs.size()) return std::nullopt;
  const double squared_error = task.encoded_outputs[output].squared_error;
  return std::isnan(squared_error) ? std::nullopt : std::optional(squared_error);
}

OutputQuality measure_reconstruction(const compute::Task& task, std::size_t output) {
  const analysis::Comparison difference = analysis::compare(task.input, task.outputs[output]);
  OutputQuality quality;
  quality.max_error = difference.max_error;
  quality.relative_error =
      std::sqrt(difference.squared_error / difference.squared_norm);  // NaN for a black image
  return quality;
}

}  // namespace

OutputErrors sum_errors(std::span<const compute::PlaneResult> planes) {
  OutputErrors sum;
  for (const compute::PlaneResult& plane : planes) {
    sum.residual += plane.residual;
    sum.squared_error += plane.squared_error;
  }
  return sum;
}

OutputQuality measure_output(const compute::Task& task, std::size_t output, double squared_error,
                             const codec::Codec& codec, const EncodedFile& file,
                             const MeasureOptions& options) {
  if (!options.is_lossy) {
    OutputQuality quality = measure_output(task, output, options);
    quality.file_squared_error = squared_error;
    return quality;
  }
  OutputQuality quality;
  if (options.pixels) quality = measure_reconstruction(task, output);
  if (!options.files && !options.pixels) return quality;
  if (const auto known = known_squared_error(task, output); known && !options.pixels) {
    quality.file_squared_error = *known;
    return quality;
  }
  const bool has_pixels = !task.encoded_input;
  const Image decoded_input = has_pixels ? Image() : task.encoded_input->decode();
  const Image& original = has_pixels ? task.input : decoded_input;
  std::vector<std::byte> storage;
  Image decoded = decode_output(codec, joined(file, storage));
  if (original.shape().channels == 1)  // some formats hold gray as RGB
    decoded = preparation::to_gray(std::move(decoded));
  if (decoded.shape() != original.shape()) return quality;
  quality.file_squared_error = analysis::compare(original, decoded).squared_error;
  if (options.pixels) quality.ssim = analysis::ssim(original, decoded, task.peak);
  return quality;
}

OutputQuality measure_output(const compute::Task& task, std::size_t output,
                             const MeasureOptions& options) {
  if (!options.pixels) return {};
  OutputQuality quality = measure_reconstruction(task, output);
  quality.ssim = analysis::ssim(task.input, task.outputs[output], task.peak);
  return quality;
}

}  // namespace eckart::pipeline
