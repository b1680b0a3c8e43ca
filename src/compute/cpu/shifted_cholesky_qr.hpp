#pragma once

#include <vector>

namespace eckart::compute::cpu {

/// Orthonormalizes columns by one shifted Cholesky QR in float32 (Fukaya, Kannan, Nakatsukasa,
/// Yamamoto, Yanagisawa: Shifted Cholesky QR, 2020): with D = diag(Y'Y)^(-1/2), D Y'Y D + shift I =
/// R'R, result Y D R^-1. The deviation from orthogonality is about the shift times the condition
/// number of the scaled Gram matrix; a second call removes it. Columns of zeros stay zero. Reuses
/// its memory between calls.
class ShiftedCholeskyQr {
 public:
  /// `y` is column-major, rows x l, and is overwritten. `second_matrix`, if not null, has the same
  /// shape and is multiplied by the same D R^-1. Throws ItemError(not_converged) if the columns are
  /// numerically dependent.
  void operator()(std::vector<float>& y, int rows, int l,
                  std::vector<float>* second_matrix = nullptr);

  /// The squared diagonal of the last R, in the order of the columns. If Y = A'Z or Y = A Z with
  /// orthonormal Z, these are rough estimates of l values sigma_i^2.
  const std::vector<float>& squared_diagonal() const { return squared_diagonal_; }

 private:
  bool factorize(const std::vector<float>& y, int rows, int l, float shift);

  std::vector<float> r_ll_, inverse_ll_, scale_, squared_diagonal_;
};

}  // namespace eckart::compute::cpu
