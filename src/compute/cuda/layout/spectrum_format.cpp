#include "compute/cuda/layout/spectrum_format.hpp"

#include <cmath>

#include "compute/spectrum.hpp"
#include "core/quality.hpp"

namespace eckart::compute::cuda {

std::vector<double> squared_values(const SpectrumFormat& spectrum, std::span<const double> values,
                                   int sample_bytes) {
  std::vector<double> squares(values.begin(), values.begin() + spectrum.values());
  switch (spectrum.order) {
    case ValueOrder::ritz:
      if (spectrum.precision == Precision::float16) {
        const double unscale = 1 / float16_scale(sample_bytes);
        for (double& value : squares) value *= unscale * unscale;
      }
      break;
    case ValueOrder::ascending_squares:
      std::reverse(squares.begin(), squares.end());
      break;
    case ValueOrder::descending:
      for (double& value : squares) value *= value;
      break;
  }
  return squares;
}

double set_spectral_results(PlaneResult& result, const SpectrumFormat& spectrum,
                            std::span<const double> values, const PlaneLayout& plane,
                            double squared_norm) {
  const std::vector<double> squares = squared_values(spectrum, values, plane.sample_bytes);
  const bool has_quotients = spectrum.order == ValueOrder::ritz;
  const auto leading =
      std::span(squares).subspan(has_quotients ? std::size_t(spectrum.columns) : 0);
  result.squared_norm = squared_norm;
  result.sigma1 = std::sqrt(std::max(0.0, leading.front()));
  result.sigma_threshold = std::sqrt(std::max(0.0, leading[std::size_t(result.rank) - 1]));
  if (has_quotients) {
    const RitzValues ritz{std::span(squares).first(std::size_t(spectrum.columns)), leading,
                          plane.n()};
    const LossEstimate loss =
        estimate_loss(ritz, result.rank, result.residual, squared_norm, spectrum.precision);
    result.loss_estimate_db = loss.db;
    result.energy = squared_norm > 0 ? std::max(0.0, 1 - result.residual / squared_norm) : 1;
    return loss.rounding_db;
  }
  result.loss_estimate_db =
      loss_estimate_db(result.rank, plane.n(), result.residual, squared_norm, spectrum.precision);
  result.loss_bound_db =
      is_exact_reconstruction(result.squared_error, result.residual)
          ? 0
          : full_decomposition_loss_bound_db(squares, result.rank, plane.m(), spectrum.columns,
                                             result.residual, squared_norm, spectrum.precision,
                                             /*is_integer=*/plane.sample_bytes < 4);
  result.energy = energy(std::span(squares).first(std::size_t(result.rank)), squared_norm);
  return result.loss_estimate_db;
}

double triplet_error(const SpectrumFormat& spectrum, std::span<const double> values,
                     const PlaneLayout& plane, int rank, double squared_norm) {
  constexpr double kMinTripletShare = 1e-12;
  if (spectrum.order != ValueOrder::ritz) return 0;
  const std::vector<double> squares = squared_values(spectrum, values, plane.sample_bytes);
  double largest = 0;
  for (std::size_t i = 0; i < std::size_t(rank); ++i) {
    const double ritz = squares[i], quotient = squares[std::size_t(spectrum.columns) + i];
    if (quotient > kMinTripletShare * squared_norm)
      largest = std::max(largest, std::abs(quotient - ritz) / quotient);
  }
  return largest;
}

}  // namespace eckart::compute::cuda
