#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/enum_names.hpp"

namespace eckart {

/// The calibrated costs of one solver on one machine, in seconds per unit of work.
/// compute/cost_model defines the units.
struct CostCoefficients {
  double batch_s = 0;   ///< per batch
  double sample_s = 0;  ///< per sample that is copied in, copied out and compared
  double flop_s = 0;    ///< per flop of matrix products and orthonormalization
  double vector_s = 0;  ///< per entry of the eigenvectors of the square problem
  double cube_s = 0;    ///< per cube of the order of the square problem
};

struct CostTerm {
  const char* name;
  double CostCoefficients::*coefficient;
};
inline constexpr std::array<CostTerm, 5> kCostTerms = {{{"batch_s", &CostCoefficients::batch_s},
                                                        {"sample_s", &CostCoefficients::sample_s},
                                                        {"flop_s", &CostCoefficients::flop_s},
                                                        {"vector_s", &CostCoefficients::vector_s},
                                                        {"cube_s", &CostCoefficients::cube_s}}};

/// Costs of the two solvers that `auto` chooses from.
struct SolverCosts {
  CostCoefficients subspace, gram;
};

/// The backends that have a choice of solvers.
enum class CostBackend { cpu, cuda };

constexpr auto enum_names(CostBackend) {
  return std::to_array<EnumName<CostBackend>>(
      {{CostBackend::cpu, "cpu"}, {CostBackend::cuda, "cuda"}});
}

struct MeasuredCosts {
  CostBackend backend = CostBackend::cpu;
  std::string device;  ///< name of the measured CPU or GPU
  std::string date;    ///< such as 2026-11-21
  SolverCosts costs;
};
/// Costs of any number of machines. The first entry that matches is used.
using Calibration = std::vector<MeasuredCosts>;

}  // namespace eckart
