#include "compute/cpu/float32_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "compute/certificate.hpp"
#include "compute/cpu/samples.hpp"
#include "core/error.hpp"
#include "core/quality.hpp"

namespace eckart::compute::cpu {
namespace {

// Amplifications of the filters. Each filter is applied to the result of the one before.
constexpr double kAmplifications[Float32Solver::kRounds] = {5, 30, 1000};

}  // namespace

template <class T>
bool Float32Solver::reconstruct(const PlaneTask<T>& plane) {
  try {
    load(plane);
    start(plane.max_rank());
    for (int round = 0; round < kRounds; ++round) {
      refine(round, plane.max_rank());
      const Certification certification = certify(plane);
      if (certification != Certification::uncertified)
        return certification == Certification::certified;
    }
  } catch (const ItemError&) {  // float64 may still converge
  }
  return false;
}

template <class T>
void Float32Solver::load(const PlaneTask<T>& plane) {
  m_ = plane.a_mn.rows;
  n_ = plane.a_mn.cols;
  scale_ = plane.scale;
  const std::size_t count = std::size_t(m_) * std::size_t(n_);
  std::vector<std::byte>& bytes = workspace_.samples;
  bytes.resize(count * sizeof(T));
  a_t_nm_.resize(count);
  T* samples = reinterpret_cast<T*>(bytes.data());
  gather(plane.a_mn, samples);
  const std::span<const T> gathered(samples, count);
  to_float(gathered, a_t_nm_.data(), scale_);
  squared_norm_ = squared_norm(gathered, scale_);
}

void Float32Solver::start(int rank) {
  rank_ = rank;
  iteration_.start(a_t_nm_, m_, n_, rank, std::min(n_, subspace_columns(rank)));
}

PlaneSpectrum Float32Solver::spectrum_of(const std::vector<double>& values) const {
  const double unscale = 1 / (scale_ * scale_);
  return {.values = values.data(),
          .scale = unscale,
          .count = rank_,
          .rows = m_,
          .cols = n_,
          .squared_norm = unscale * squared_norm_};
}

PlaneSpectrum Float32Solver::estimated_spectrum() {
  return spectrum_of(iteration_.estimate_values());
}

void Float32Solver::refine(int round, int rank) {
  rank_ = rank;
  iteration_.set_rank(rank);
  iteration_.apply_filter(kAmplifications[round]);
  factors_ = &iteration_.compute_factors();
}

PlaneSpectrum Float32Solver::spectrum() const { return spectrum_of(factors_->rayleigh_quotients); }

template <class T>
Float32Solver::Certification Float32Solver::certify(const PlaneTask<T>& plane) {
  Certification certification = certify_outputs(plane);
  if (certificate_ == Certificate::bound && certification == Certification::certified)
    certification = prove_outputs(plane);
  return certification;
}

/// Computes the largest rank first: if it is not accurate enough, the others need not be computed.
template <class T>
Float32Solver::Certification Float32Solver::certify_outputs(const PlaneTask<T>& plane) {
  auto outputs = plane.outputs_by_descending_rank();
  const std::size_t first = std::min<std::size_t>(outputs.size(), 1);
  std::reverse(outputs.begin() + std::ptrdiff_t(first), outputs.end());
  const std::span<const typename PlaneTask<T>::Output* const> all(outputs);
  const Certification certification = store_outputs(plane, all.first(first));
  return certification == Certification::certified ? store_outputs(plane, all.subspan(first))
                                                   : certification;
}

/// Stores outputs of ascending ranks, then certifies them.
template <class T>
Float32Solver::Certification Float32Solver::store_outputs(
    const PlaneTask<T>& plane, std::span<const typename PlaneTask<T>::Output* const> outputs) {
  const SubspaceIteration::LowRankFactors& factors = *factors_;
  const std::vector<SquaredErrors> errors =
      workspace_.reconstruction.store(factors, plane, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const int k = outputs[i]->rank;
    const auto& [residual, squared_error] = errors[i];
    const auto loss_estimate_for = [&, residual = residual](const auto& rayleigh_quotients) {
      return estimate_loss({factors.ritz, rayleigh_quotients, n_}, k, residual, squared_norm_,
                           Precision::float32)
          .db;
    };
    const double loss = is_exact_reconstruction(squared_error, residual)
                            ? 0
                            : loss_estimate_for(factors.rayleigh_quotients);
    if (!(loss <= kMaxLossDb)) {
      // The estimate if the subspace were invariant.
      const double best_loss_estimate = loss_estimate_for(factors.ritz);
      return best_loss_estimate <= kMaxLossDb ? Certification::uncertified
                                              : Certification::uncertifiable;
    }
    *outputs[i]->result = {
        .rank = k,
        .energy = squared_norm_ > 0 ? 1 - residual / squared_norm_ : 1,
        .squared_norm = squared_norm_,
        .residual = residual,
        .squared_error = squared_error,
        .loss_estimate_db = loss,
        .sigma1 = std::sqrt(factors.rayleigh_quotients.front()),
        .sigma_threshold = std::sqrt(factors.rayleigh_quotients[std::size_t(k) - 1]),
        .solver = SolverKind::subspace};
  }
  return Certification::certified;
}

/// Computes the loss bound of outputs that certify_outputs() has certified.
template <class T>
Float32Solver::Certification Float32Solver::prove_outputs(const PlaneTask<T>& plane) {
  LossBound& bound = workspace_.bound;
  bool is_prepared = false;
  for (const auto& output : plane.outputs) {
    PlaneResult& result = *output.result;
    result.loss_bound_db = 0;
    if (is_exact_reconstruction(result.squared_error, result.residual)) continue;
    if (!std::exchange(is_prepared, true))
      bound.prepare(a_t_nm_, iteration_.basis(), plane.a_mn.rows, plane.a_mn.cols,
                    iteration_.columns(), plane.max_rank(), squared_norm_);
    result.loss_bound_db = bound.loss_db(output.rank, result.residual);
    if (result.loss_bound_db <= kMaxLossDb) continue;
    return bound.converged_loss_db(output.rank, result.residual) <= kMaxLossDb
               ? Certification::uncertified
               : Certification::uncertifiable;
  }
  return Certification::certified;
}

template bool Float32Solver::reconstruct(const PlaneTask<std::uint8_t>&);
template bool Float32Solver::reconstruct(const PlaneTask<std::uint16_t>&);
template bool Float32Solver::reconstruct(const PlaneTask<float>&);
template void Float32Solver::load(const PlaneTask<std::uint8_t>&);
template void Float32Solver::load(const PlaneTask<std::uint16_t>&);
template void Float32Solver::load(const PlaneTask<float>&);
template Float32Solver::Certification Float32Solver::certify(const PlaneTask<std::uint8_t>&);
template Float32Solver::Certification Float32Solver::certify(const PlaneTask<std::uint16_t>&);
template Float32Solver::Certification Float32Solver::certify(const PlaneTask<float>&);

}  // namespace eckart::compute::cpu
