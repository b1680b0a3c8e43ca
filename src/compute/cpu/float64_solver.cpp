#include "compute/cpu/float64_solver.hpp"

#include <cblas.h>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "compute/certificate.hpp"
#include "compute/cpu/factors.hpp"
#include "compute/cpu/float64_samples.hpp"
#include "compute/cpu/low_rank_product.hpp"
#include "compute/spectrum.hpp"
#include "core/quality.hpp"

namespace eckart::compute::cpu {
namespace {

/// Rounds and stores the values. Adds up both squared errors.
template <class T>
void store_rounded(const std::vector<double>& values, const PlaneTask<T>& plane,
                   MatrixView<T> out_mn, PlaneResult& result) {
  const MatrixView<const T>& a_mn = plane.a_mn;
  auto from = values.begin();
  for (int row = 0; row < a_mn.rows; ++row) {
    for (int col = 0; col < a_mn.cols; ++col) {
      const double value = *from++;
      const T stored = to_sample<T>(value, plane.peak, plane.scale);
      const double before = value - plane.scale * a_mn(row, col);
      const double after = plane.scale * (double(stored) - a_mn(row, col));
      result.residual += before * before;
      result.squared_error += after * after;
      out_mn(row, col) = stored;
    }
  }
}

}  // namespace

template <class T>
void Float64Solver::load(const PlaneTask<T>& plane) {
  m_ = plane.a_mn.rows;
  n_ = plane.a_mn.cols;
  scale_ = plane.scale;
  squared_norm_ = load_samples(plane.a_mn, scale_, workspace_.a_t_nm);
}

void Float64Solver::decompose() { sigma_squared_ = &solver_.decompose(workspace_.a_t_nm, m_, n_); }

PlaneSpectrum Float64Solver::spectrum() const {
  const double unscale = 1 / (scale_ * scale_);
  return {.values = sigma_squared_->data(),
          .scale = unscale,
          .is_svd_of_a = precision_ == Precision::float64,
          .count = n_,
          .rows = m_,
          .cols = n_,
          .squared_norm = unscale * squared_norm_};
}

template <class T>
void Float64Solver::reconstruct(const PlaneTask<T>& plane) {
  const int m = m_, n = n_, k_max = plane.max_rank();
  const std::span<const double> sigma_squared(*sigma_squared_);
  const std::vector<double>& v_nk = solver_.vectors(k_max);
  auto& [a_t_nm, p_mk, values] = workspace_;
  p_mk.resize(std::size_t(m) * std::size_t(k_max));  // A V = U Sigma
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, k_max, n, 1.0, a_t_nm.data(), n,
              v_nk.data(), n, 0.0, p_mk.data(), m);
  values.resize(a_t_nm.size());
  int rank_of_values = 0;
  for (const auto* output : plane.outputs_by_descending_rank()) {
    const auto& [k, samples_mn, result] = *output;
    change_rank({v_nk, p_mk, m, n}, std::exchange(rank_of_values, k), k, values);
    *result = {.rank = k,
               .energy = energy(sigma_squared.first(std::size_t(k)), squared_norm_),
               .squared_norm = squared_norm_,
               .sigma1 = std::sqrt(sigma_squared.front()),
               .sigma_threshold = std::sqrt(sigma_squared[std::size_t(k) - 1]),
               .solver = kind_};
    store_rounded(values, plane, samples_mn, *result);
    result->loss_estimate_db = loss_estimate_db(k, n, result->residual, squared_norm_, precision_);
    result->loss_bound_db =
        is_exact_reconstruction(result->squared_error, result->residual)
            ? 0
            : full_decomposition_loss_bound_db(sigma_squared, k, m, n, result->residual,
                                               squared_norm_, precision_, std::is_integral_v<T>);
  }
  if (plane.factors)
    set_factors(p_mk.data(), v_nk.data(), k_max, scale_, squared_norm_, *plane.factors);
}

template void Float64Solver::load(const PlaneTask<std::uint8_t>&);
template void Float64Solver::load(const PlaneTask<std::uint16_t>&);
template void Float64Solver::load(const PlaneTask<float>&);
template void Float64Solver::reconstruct(const PlaneTask<std::uint8_t>&);
template void Float64Solver::reconstruct(const PlaneTask<std::uint16_t>&);
template void Float64Solver::reconstruct(const PlaneTask<float>&);

}  // namespace eckart::compute::cpu
