#pragma once

#include <string>
#include <vector>

#include "telemetry/run_report.hpp"

namespace eckart::reports {

/// The quality and cost of the outputs of each rank as a table for people: a header and a line per
/// rank, each with a newline. PSNR is that of the files if all were measured. It has columns of
/// SSIM if that was measured.
std::string rank_table(const std::vector<telemetry::RankSummary>& ranks);

}  // namespace eckart::reports
