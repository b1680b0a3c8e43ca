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

/// Whether it is, or may be, an iteration that a certificate has to follow.
constexpr bool is_iterative(SolverKind kind) {
  return kind == SolverKind::automatic || kind == SolverKind::subspace;
}

/// What shows that a result of an iteration is within kMaxLossDb of the optimum. One for which it
/// does not is computed again in float64.
enum class Certificate {
  estimate,  ///< see loss_estimate_db() in compute/certificate.hpp
  bound      ///< a proven bound; see docs/explanation/numerics.md
};

constexpr auto enum_names(Certificate) {
  return std::to_array<EnumName<Certificate>>(
      {{Certificate::estimate, "estimate"}, {Certificate::bound, "bound"}});
}

}  // namespace eckart
