#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capacity/throughput_log_reader.hpp"

namespace eckart::capacity {

/// Rates of one kind of work on a recorded machine with one GPU.
struct ReferenceWork {
  std::string work;
  double pixels = 0;  ///< of an image
  /// Images per second of the runs with at least two whole seconds, by number of cores.
  std::vector<std::pair<int, std::vector<double>>> rates;
};

/// For those who ask about a machine that they do not have. Both throw std::invalid_argument with
/// the accepted names.
const std::vector<ReferenceWork>& reference_works(const std::string& name);
std::vector<LoggedRun> reference_runs(const std::string& name);

std::string reference_source();  ///< the file in the repository with the figures

}  // namespace eckart::capacity
