#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/peak_choice.hpp"

namespace eckart::telemetry {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The measurements of one output file. Vectors have one element per channel; an unknown one is
/// empty. Errors are in levels.
struct OutputMeasurement {
  int rows = 0, cols = 0, channels = 0, bits = 0;
  std::string color{};                    ///< name of its ColorMode
  std::string rank_spec{};                ///< as it was given
  int rank = 0;                           ///< the largest of all channels
  std::vector<int> channel_ranks{};       ///< the rank of each channel
  std::vector<double> energy{};           ///< share of the squared norm that is kept
  double total_energy = kUnknown;         ///< the same share for all channels together
  std::vector<double> sigma1{};           ///< the largest singular value
  std::vector<double> sigma_threshold{};  ///< the smallest singular value that is kept
  std::vector<std::string> solvers{};     ///< that computed the planes
  double peak = 0;                        ///< of PSNR and SSIM, in levels
  PeakSource peak_source = PeakSource::dtype;
  /// Of a residual: its gain. The errors are those of the reconstruction. NaN: no residual.
  double residual_gain = kUnknown;
  double psnr_before_rounding_db = 0;  ///< infinity if exact
  double psnr_db = 0;                  ///< of the pixels written; infinity if exact, NaN if unknown
  double rmse = 0;                     ///< of the pixels written; NaN if unknown
  double relative_error = kUnknown;    ///< ||A - B|| / ||A|| of the pixels written
  double max_error = kUnknown;         ///< of the pixels written
  double file_psnr_db = kUnknown;      ///< of the pixels in the file; infinity if exact
  double file_rmse = kUnknown;         ///< of the pixels in the file
  double ssim = kUnknown;              ///< of the pixels in the file
  double loss_estimate_db = 0;         ///< infinity if unknown
  double loss_bound_db = 0;            ///< NaN if not proven
  int planes_recomputed = 0;           ///< planes that the first solver did not certify
  /// Of a DICOM image: value = slope x sample + intercept, for samples of the output; window of
  /// values. NaN: unknown, or another image.
  double rescale_slope = kUnknown, rescale_intercept = kUnknown;
  double window_center = kUnknown, window_width = kUnknown;
  std::int64_t raw_bytes = 0;      ///< of the pixels
  std::int64_t source_bytes = 0;   ///< of the input file
  std::int64_t factor_bytes = 0;   ///< of U, s and V in float32
  std::int64_t written_bytes = 0;  ///< of the output file
  double load_ms = 0, wait_ms = 0, compute_ms = 0, write_ms = 0;
};

}  // namespace eckart::telemetry
