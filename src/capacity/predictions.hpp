#pragma once

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// What was reached where something was saturated, or what the busiest resource would allow.
Prediction capacity_of(const Model& model);

/// Of a plan of which the rest is known: its predictions, and what was asked.
void answer_question(const Question& question, const Model& model, Plan& plan);

}  // namespace eckart::capacity
