#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eckart::telemetry {

/// The measurements of one output file.
struct OutputMeasurement {
  std::filesystem::path file, output;
  int rows = 0, cols = 0, channels = 0, bits = 0;
  int rank = 0;
  double psnr_db = 0;            ///< infinity if the output is exact
  int planes_recomputed = 0;     ///< planes that the first solver did not certify
  std::vector<double> energy{};  ///< one per channel
  double loss_estimate_db = 0;   ///< infinity if unknown
  double loss_bound_db = 0;      ///< NaN if not proven
};

}  // namespace eckart::telemetry
