#pragma once

#include "core/solver_costs.hpp"

namespace eckart::compute::cuda {

/// Costs for a GPU that was not measured. From one H200 with four lanes and full batches, fitted to
/// docs/results/2026-11-22-h200.json within 13 %. gram at 1024 x 1024 and the cost per batch are
/// from a prototype.
inline constexpr SolverCosts kBuiltInCudaCosts = {
    .subspace = {.sample_s = 1.4e-11, .flop_s = 5.15e-14, .cube_s = 2.46e-12},
    .gram = {.batch_s = 2e-3, .sample_s = 2.4e-10, .flop_s = 9e-14, .cube_s = 2.04e-12}};

}  // namespace eckart::compute::cuda
