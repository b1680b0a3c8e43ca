#include "compute/cpu/shifted_cholesky_qr.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <cmath>

#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

constexpr float kShift = 1e-6F;  // 16 units in the last place of the unit diagonal
constexpr float kMaxShift = 1e-2F;
constexpr float kShiftGrowth = 10;  // after each factorization that fails

}  // namespace

/// Writes R of the scaled columns to r_ll_. Returns false if the shifted matrix is not positive
/// definite in float32.
bool ShiftedCholeskyQr::factorize(const std::vector<float>& y, int rows, int l, float shift) {
  cblas_ssyrk(CblasColMajor, CblasUpper, CblasTrans, l, rows, 1, y.data(), rows, 0, r_ll_.data(),
              l);
  const auto size = std::size_t(l);
  for (std::size_t j = 0; j < size; ++j) {
    const float squared = r_ll_[j * size + j];
    scale_[j] = squared > 0 ? 1 / std::sqrt(squared) : 0;
    for (std::size_t i = 0; i < j; ++i) r_ll_[j * size + i] *= scale_[i] * scale_[j];
    r_ll_[j * size + j] = 1 + shift;
  }
  return LAPACKE_spotrf(LAPACK_COL_MAJOR, 'U', l, r_ll_.data(), l) == 0;
}

void ShiftedCholeskyQr::operator()(std::vector<float>& y, int rows, int l,
                                   std::vector<float>* second_matrix) {
  const auto size = std::size_t(l);
  r_ll_.resize(size * size);
  scale_.resize(size);
  squared_diagonal_.resize(size);
  float shift = kShift;
  while (!factorize(y, rows, l, shift)) {
    shift *= kShiftGrowth;
    if (shift > kMaxShift)
      throw ItemError(FailureReason::not_converged,
                      "spotrf failed: the columns are numerically dependent");
  }
  for (std::size_t j = 0; j < size; ++j) {
    const float r = scale_[j] > 0 ? r_ll_[j * size + j] / scale_[j] : 0;
    squared_diagonal_[j] = r * r;
  }
  inverse_ll_.assign(size * size, 0);  // R^-1 for the columns before scaling
  for (std::size_t j = 0; j < size; ++j) inverse_ll_[j * size + j] = 1;
  cblas_strsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, l, l, 1,
              r_ll_.data(), l, inverse_ll_.data(), l);
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i <= j; ++i) inverse_ll_[j * size + i] *= scale_[i];
  }
  for (std::vector<float>* columns : {&y, second_matrix}) {
    if (columns == nullptr) continue;
    cblas_strmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, rows, l, 1,
                inverse_ll_.data(), l, columns->data(), rows);
  }
}

}  // namespace eckart::compute::cpu
