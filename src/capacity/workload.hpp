#pragma once

#include <string>
#include <vector>

#include "capacity/throughput_log_reader.hpp"

namespace eckart::capacity {

/// The properties that runs must share to be comparable.
struct Workload {
  std::string cpu, backend, device;
  std::vector<std::string> settings = {};
  double pixels_per_image, input_bytes_per_image;
  double output_bytes_per_image = 0;  ///< 0: unknown
  std::string recorded_work = {};     ///< of recorded figures

  bool is_comparable_to(const Workload& other) const;
};

/// The runs of one workload.
struct WorkloadRuns {
  Workload workload;
  std::vector<LoggedRun> runs;
};

std::vector<WorkloadRuns> group_by_workload(const std::vector<LoggedRun>& runs);

}  // namespace eckart::capacity
