#pragma once

#include <memory>

#include "compute/backend.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::compute::cpu {

/// Creates a lane of the CPU backend. `chooser` must outlive the lane.
std::unique_ptr<Lane> make_lane(SolverKind solver, Certificate certificate, SolverChooser& chooser);

}  // namespace eckart::compute::cpu
