#pragma once

#include <string>

#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Nothing is too slow, so that tables do not depend on the load of the machine.
inline ExperimentOptions quick() {
  return {.extent = Extent::quick,
          .max_seconds = 1e-3,
          .max_call_seconds = 600,
          .print_line = [](const std::string&) {}};
}

inline ExperimentOptions smallest() {
  ExperimentOptions options = quick();
  options.extent = Extent::smallest;
  return options;
}

}  // namespace eckart::bench
