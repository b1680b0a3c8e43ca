#pragma once

#include <string>

#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

inline ExperimentOptions quick() {
  return {.extent = Extent::quick, .max_seconds = 1e-3, .print_line = [](const std::string&) {}};
}

inline ExperimentOptions smallest() {
  ExperimentOptions options = quick();
  options.extent = Extent::smallest;
  return options;
}

}  // namespace eckart::bench
