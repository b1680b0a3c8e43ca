#pragma once

#include "core/solver_costs.hpp"

namespace eckart::compute::cpu {

/// Costs for a machine that was not measured. From one core of an AMD EPYC (Zen 4) with OpenBLAS
/// 0.3.21, fitted by `eckart doctor --calibrate`.
inline constexpr SolverCosts kBuiltInCpuCosts = {.subspace = {.flop_s = 8e-11, .vector_s = 8e-08},
                                                 .gram = {.batch_s = 3.2e-05,
                                                          .sample_s = 1.1e-08,
                                                          .flop_s = 2.5e-11,
                                                          .vector_s = 2.8e-07,
                                                          .cube_s = 4.8e-11}};

}  // namespace eckart::compute::cpu
