#include "compute/cpu/float32_way.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/certificate.hpp"
#include "compute/cpu/samples.hpp"
#include "core/error.hpp"
#include "core/quality.hpp"

namespace eckart::cpu {
namespace {

// Of the filters that are tried one after the other, each on what the last has left.
constexpr double kLifts[] = {5, 30, 1000};

}  // namespace

template <class T>
bool Float32Way::reconstruct(const Plane<T>& plane) {
  const int m = plane.a_mn.rows, n = plane.a_mn.cols, k = plane.largest_rank();
  const std::size_t count = std::size_t(m) * std::size_t(n);
  samples_.resize(count * sizeof(T));
  stored_.resize(count * sizeof(T));
  a_t_nm_.resize(count);
  values_.resize(count);
  T* samples = reinterpret_cast<T*>(samples_.data());
  gather(plane.a_mn, samples);
  squared_norm_ = to_float(std::span<const T>(samples, count), a_t_nm_.data());

  try {
    iteration_.start(a_t_nm_, m, n, k, std::min(n, subspace_columns(k)));
    for (const double lift : kLifts) {
      iteration_.filter(lift);
      const Verdict verdict = write(plane, iteration_.factors());
      if (verdict != Verdict::not_yet) return verdict == Verdict::good;
    }
  } catch (const ItemError&) {  // float64 may still get there
  }
  return false;
}

/// Writes every output until one is not good enough.
template <class T>
Float32Way::Verdict Float32Way::write(const Plane<T>& plane,
                                      const SubspaceIteration::Factors& factors) {
  const int m = plane.a_mn.rows, n = plane.a_mn.cols;
  const std::span<const T> samples(reinterpret_cast<const T*>(samples_.data()), values_.size());
  T* stored = reinterpret_cast<T*>(stored_.data());
  for (const auto& [k, samples_mn, result] : plane.outputs) {
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, m, k, 1, factors.v_nk.data(), n,
                factors.u_mk.data(), m, 0, values_.data(), n);
    const Errors errors = round_and_compare(values_.data(), samples, plane.top, stored);
    const auto loss_if_refined = [&, rank = k](const std::vector<double>& refined) {
      return most_loss_db({factors.ritz, refined, n}, rank, errors.residual, squared_norm_,
                          Precision::float32);
    };
    const double loss = every_pixel_is_right(errors.squared_error, errors.residual)
                            ? 0
                            : loss_if_refined(factors.refined);
    if (!(loss <= kMostLossDb)) {
      const double loss_at_best = loss_if_refined(factors.ritz);  // were the space invariant
      return loss_at_best <= kMostLossDb ? Verdict::not_yet : Verdict::never;
    }
    scatter(stored, samples_mn);
    *result = {.rank = k,
               .energy = squared_norm_ > 0 ? 1 - errors.residual / squared_norm_ : 1,
               .residual = errors.residual,
               .squared_error = errors.squared_error,
               .most_loss_db = loss};
  }
  return Verdict::good;
}

template bool Float32Way::reconstruct(const Plane<std::uint8_t>&);
template bool Float32Way::reconstruct(const Plane<std::uint16_t>&);

}  // namespace eckart::cpu
