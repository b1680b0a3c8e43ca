#pragma once

#include <vector>

#include "capacity/throughput_log_reader.hpp"

namespace eckart::simulation {

/// What throughput logs say about a node and its images.
struct MeasuredNode {
  double images_per_s = 0;                   ///< capacity of the largest machine in the logs
  double startup_s = 0;                      ///< mean of the runs
  double input_bytes = 0, output_bytes = 0;  ///< of an image; 0: unknown
};

/// Throws std::invalid_argument if the runs are of several workloads.
MeasuredNode measured_node(const std::vector<capacity::LoggedRun>& runs);

}  // namespace eckart::simulation
