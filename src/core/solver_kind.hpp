#pragma once

#include "core/enum_names.hpp"

namespace eckart {

enum class SolverKind { automatic, gram, subspace, gesvd, gesvdj };

constexpr auto enum_names(SolverKind) {
  return std::to_array<EnumName<SolverKind>>({{SolverKind::automatic, "auto"},
                                              {SolverKind::gram, "gram"},
                                              {SolverKind::subspace, "subspace"},
                                              {SolverKind::gesvd, "gesvd"},
                                              {SolverKind::gesvdj, "gesvdj"}});
}

/// True for subspace iteration and for `automatic`, which may choose it. Its results need a
/// certificate.
constexpr bool is_iterative(SolverKind kind) {
  return kind == SolverKind::automatic || kind == SolverKind::subspace;
}

/// How the program shows that a result of subspace iteration is within kMaxLossDb of the optimum. A
/// result without a certificate is recomputed in float64.
enum class Certificate {
  estimate,  ///< see estimate_loss() in compute/certificate.hpp
  bound      ///< a proven bound; see docs/explanation/numerics.md
};

constexpr auto enum_names(Certificate) {
  return std::to_array<EnumName<Certificate>>(
      {{Certificate::estimate, "estimate"}, {Certificate::bound, "bound"}});
}

}  // namespace eckart
