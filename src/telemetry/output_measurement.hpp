#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "text/json.hpp"

namespace eckart::telemetry {

/// What was measured of one output file.
struct OutputMeasurement {
  std::filesystem::path file, output;
  int rows = 0, cols = 0, channels = 0, bits = 0;
  int rank = 0;
  double psnr_db = 0;            ///< infinity where exact
  int planes_recomputed = 0;     ///< channels that the first solver did not settle
  std::vector<double> energy{};  ///< one a channel
  double loss_estimate_db = 0;   ///< infinity where nothing is known
  double loss_bound_db = 0;      ///< NaN where nothing is proven
};

/// Its measurements as a JSON object with the keys of docs/reference/summary.md; without the file
/// names.
Json to_json(const OutputMeasurement& output);

}  // namespace eckart::telemetry
