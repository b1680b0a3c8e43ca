#pragma once

#include <vector>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// Power that is assumed if no log and no --watts tells it: of a core with its share of the
/// machine, and of a GPU (the board power limit of an H100 or H200).
inline constexpr double kDefaultCoreWatts = 10, kDefaultGpuWatts = 700;

/// Returns the machines that a planner may choose, with rate and cost, this machine first. `plan`
/// has all other members.
std::vector<PlanOption> make_options(const Plan& plan, const Model& model);

/// Adds the machines of `recorded` as options of `plan`, if their images are of about the same
/// size.
void add_recorded_options(Plan& plan, const std::vector<Plan>& recorded);

}  // namespace eckart::capacity
