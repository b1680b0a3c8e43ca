#pragma once

#include <array>
#include <string>
#include <vector>

namespace eckart {

/// What one solver's work costs on one machine, in seconds; compute/cost_model says of what.
struct CostCoefficients {
  double batch_s = 0;   ///< a batch, however many planes are in it
  double sample_s = 0;  ///< a sample in, out, and compared
  double flop_s = 0;    ///< a flop of products and of orthonormalizing
  double vector_s = 0;  ///< an entry of the eigenvectors of the square problem
  double cube_s = 0;    ///< the cube of its order
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

/// Of the two solvers between which there is a choice.
struct SolverCosts {
  CostCoefficients subspace, gram;
};

struct MeasuredCosts {
  std::string backend;  ///< its name
  std::string device;   ///< the name of the CPU or GPU that they were measured on
  std::string date;     ///< 2026-11-21
  SolverCosts costs;
};
/// Of any number of machines; the first that fits counts.
using Calibration = std::vector<MeasuredCosts>;

}  // namespace eckart
