#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <span>

#include "codec/codec.hpp"
#include "compute/backend.hpp"
#include "pipeline/encoded_file.hpp"

namespace eckart::pipeline {

/// What is measured of each output besides what the backend tells.
struct MeasureOptions {
  bool is_lossy = false;  ///< the pixels of the file may differ from the reconstruction
  /// Decode the file of a lossy format again, for the PSNR of the file. Takes about as long as
  /// encoding it.
  bool files = false;
  bool pixels = false;  ///< SSIM, relative error and maximum error; includes `files`
};

/// Measured when an output is written. NaN: not measured.
struct OutputQuality {
  double file_squared_error = std::numeric_limits<double>::quiet_NaN();  ///< of the file's pixels
  double ssim = std::numeric_limits<double>::quiet_NaN();  ///< of the file's pixels, if written
  double relative_error = std::numeric_limits<double>::quiet_NaN();  ///< ||A - B|| / ||A||
  double max_error = std::numeric_limits<double>::quiet_NaN();       ///< levels
  /// Of a residual: its gain. NaN: it is no residual.
  double residual_gain = std::numeric_limits<double>::quiet_NaN();
  std::chrono::nanoseconds write_time{0};  ///< of encoding and writing
};

/// Squared errors of all samples of an output, in levels^2.
struct OutputErrors {
  double residual = 0;       ///< before clamping and rounding
  double squared_error = 0;  ///< of the pixels
};

/// Returns the sums of the errors of the planes.
OutputErrors sum_errors(std::span<const compute::PlaneResult> planes);

/// Measures an output of a task that `codec` encoded as `file`. `squared_error` is that of its
/// pixels. Decodes the input if its pixels are needed and not there. Throws
/// ItemError(not_written) if the file does not decode.
OutputQuality measure_output(const compute::Task& task, std::size_t output, double squared_error,
                             const codec::Codec& codec, const EncodedFile& file,
                             const MeasureOptions& options);
/// Measures an output that is not written. What concerns its file stays unknown.
OutputQuality measure_output(const compute::Task& task, std::size_t output,
                             const MeasureOptions& options);

}  // namespace eckart::pipeline
