#pragma once

#include <vector>

namespace eckart::cpu {

/// Makes columns orthonormal by a shifted Cholesky QR in float32: Y'Y with its rows and columns
/// scaled to a unit diagonal, a small shift, Y R^-1. What the shift leaves is orthogonal to about
/// the shift times the condition of the scaled columns; a second call mends that. Columns of zeros
/// stay so. (Fukaya, Kannan, Nakatsukasa, Yamamoto, Yanagisawa: Shifted Cholesky QR, 2020)
/// Keeps its memory between calls.
class ShiftedCholeskyQr {
 public:
  /// `y` is column-major, rows x l. `follower`, where there is one, has the same shape and is
  /// multiplied by R^-1 as well. Throws ItemError(not_converged).
  void operator()(std::vector<float>& y, int rows, int l,
                  std::vector<float>* second_matrix = nullptr);

  /// The last R's diagonal, squared: l rough values of sigma^2 where Y was A'Z or AZ with
  /// orthonormal Z, in no order.
  const std::vector<float>& squared_diagonal() const { return squared_diagonal_; }

 private:
  bool factorize(const std::vector<float>& y, int rows, int l, float shift);

  std::vector<float> r_ll_, inverse_ll_, scale_, squared_diagonal_;
};

}  // namespace eckart::cpu
