#pragma once

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// Returns the measured rate if a resource was saturated, or otherwise the rate that the busiest
/// resource would allow.
Prediction estimate_capacity(const Model& model);

/// Computes the predictions and the requested answers of a plan whose other members are set.
void compute_predictions(const PlanRequest& request, const Model& model, Plan& plan);

}  // namespace eckart::capacity
