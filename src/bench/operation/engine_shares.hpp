#pragma once

#include <array>
#include <utility>
#include <vector>

#include "bench/operation/batch.hpp"

namespace eckart::bench {

/// Begin and end, in any unit.
using Interval = std::pair<double, double>;

/// The time in which at least `count` of the intervals overlap.
double covered_by(int count, const std::vector<Interval>& intervals);

/// The shares of engines that worked in these intervals, which may overlap and be unsorted, in the
/// time from the first begin to the last end.
EngineShares engine_shares(const std::vector<Interval>& copy_in,
                           const std::vector<Interval>& compute,
                           const std::vector<Interval>& copy_out);

}  // namespace eckart::bench
