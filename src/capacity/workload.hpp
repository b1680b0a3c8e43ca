#pragma once

#include <string>
#include <vector>

#include "capacity/throughput_log_reader.hpp"

namespace eckart::capacity {

/// What runs must have in common for one to tell about another.
struct Workload {
  std::string cpu, backend, device;
  std::vector<std::string> settings = {};
  double pixels_per_image, input_bytes_per_image;

  bool is_comparable_to(const Workload& other) const;
};

/// Runs of the same work.
struct WorkloadRuns {
  Workload kind;
  std::vector<LoggedRun> runs;
};

std::vector<WorkloadRuns> group_by_workload(const std::vector<LoggedRun>& runs);

}  // namespace eckart::capacity
