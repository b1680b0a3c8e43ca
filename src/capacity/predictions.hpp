#pragma once

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// What was reached where something was saturated, or what the busiest resource would allow.
Prediction estimate_capacity(const Model& model);

/// Of a plan of which the rest is known: its predictions, and what was asked.
void compute_predictions(const PlanRequest& request, const Model& model, Plan& plan);

}  // namespace eckart::capacity
