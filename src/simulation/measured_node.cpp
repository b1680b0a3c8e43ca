#include "simulation/measured_node.hpp"

#include <stdexcept>
#include <string>

#include "capacity/plan.hpp"

namespace eckart::simulation {

MeasuredNode measured_node(const std::vector<capacity::LoggedRun>& runs) {
  const std::vector<capacity::Plan> plans = capacity::make_plans(runs, {});
  if (plans.size() > 1)
    throw std::invalid_argument("the throughput logs have " + std::to_string(plans.size()) +
                                " kinds of work (see eckart plan); name logs of one");
  const capacity::Plan& plan = plans.front();
  MeasuredNode node{.images_per_s = plan.current_capacity.rate_per_s.value,
                    .input_bytes = plan.input_bytes_per_image,
                    .output_bytes = plan.output_bytes_per_image.value_or(0)};
  for (const capacity::LoggedRun& run : runs) node.startup_s += run.startup_s / double(runs.size());
  return node;
}

}  // namespace eckart::simulation
