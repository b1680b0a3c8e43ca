#pragma once

#include <string>
#include <vector>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// A rate is known well enough if the 95 % interval of the mean of its runs is within this share.
inline constexpr double kEnoughPrecision = 0.05;

/// How well repeated runs know the rate on a number of cores.
struct RatePrecision {
  int cores = 1;
  std::size_t runs = 0;
  double half_width = 0;  ///< relative half width of the 95 % interval; infinite for one run
};
std::vector<RatePrecision> rate_precisions(const Plan& plan);

/// Returns the numbers of cores whose rate needs more runs: "2 cores ± 7 %"; empty if there is
/// none.
std::string missing_precision(const Plan& plan);

/// Returns what the runs show, or why they do not and what to do: the precision of the rates, the
/// serial fraction, and the limit.
std::vector<std::string> scaling_conclusions(const Plan& plan);

}  // namespace eckart::capacity
