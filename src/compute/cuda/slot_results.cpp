#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "compute/certificate.hpp"
#include "compute/cuda/slot.hpp"
#include "compute/float_scale.hpp"
#include "compute/rank_estimate.hpp"
#include "core/quality.hpp"

// What a slot makes of the results that it has copied out.
namespace eckart::compute::cuda {

/// The planes of all images that have a plane in `some`, with their needs.
std::vector<TaskPlane> Slot::whole_images(std::span<const TaskPlane> some) const {
  std::map<const Task*, bool> needs_float64;
  for (const TaskPlane& plane : some) {
    bool& needs = needs_float64[plane.task];
    needs = needs || plane.needs.is_float64;
  }
  std::vector<TaskPlane> all;
  for (std::size_t first = 0; first < task_planes_.size();) {
    const int channels = task_planes_[first].plane.channels;
    const auto known = needs_float64.find(task_planes_[first].task);
    if (known != needs_float64.end()) {
      const ImageNeeds needs{needed_rank(first, channels), known->second};
      for (int c = 0; c < channels; ++c) {
        all.push_back(task_planes_[first + std::size_t(c)]);
        all.back().needs = needs;
      }
    }
    first += std::size_t(channels);
  }
  return all;
}

/// The largest rank of an image whose planes begin at `first_plane`, estimated if it could not be
/// chosen.
int Slot::needed_rank(std::size_t first_plane, int channels) const {
  std::vector<std::vector<double>> squares(static_cast<std::size_t>(channels));
  std::vector<PlaneSpectrum> spectra;
  int largest = 0;
  for (std::size_t r = 0; r < ranks(); ++r) {
    const RankRule* rules =
        rules_.host.as<RankRule>() + r * std::size_t(padded_planes_) + first_plane;
    for (int c = 0; c < channels; c += rules[c].channels) {
      for (int in_group = 0; in_group < rules[c].channels; ++in_group)
        largest = std::max(largest, chosen_rank(first_plane + std::size_t(c + in_group), r));
      if (chosen_rank(first_plane + std::size_t(c), r) > 0) continue;
      for (int known = int(spectra.size()); known < channels; ++known) {
        spectra.push_back(
            leading_values(first_plane + std::size_t(known), squares[std::size_t(known)]));
      }
      const auto group = std::span(spectra).subspan(std::size_t(c), std::size_t(rules[c].channels));
      largest = std::max(largest, estimate_rank(rules[c], group));
    }
  }
  return largest;
}

/// All values that the solver has found, also those that are not converged.
PlaneSpectrum Slot::leading_values(std::size_t plane_index, std::vector<double>& squares) const {
  const PlaneLayout& plane = task_planes_[plane_index].plane;
  squares = squared_values(spectrum_, values(plane_index), plane.sample_bytes);
  const double unscale = 1 / (plane.scale * plane.scale);
  return {.values = squares.data(),
          .scale = unscale,
          .count = std::min(spectrum_.columns, plane.n()),
          .rows = plane.rows,
          .cols = plane.cols,
          .squared_norm = unscale * squared_norm(plane_index)};
}

BatchCertification Slot::certify(Certificate certificate, bool is_last) const {
  BatchCertification certification;
  for (std::size_t plane_index = 0; plane_index < task_planes_.size(); ++plane_index) {
    const TaskPlane& task_plane = task_planes_[plane_index];
    const double norm = squared_norm(plane_index);
    if (key_.wants_spectrum) set_spectrum(plane_index);
    bool is_converged = info_.host.as<int>()[plane_index] == 0, is_certified = true,
         is_rounding_limited = false;
    double iteration_loss_db = 0;
    for (std::size_t r = 0; r < ranks(); ++r) {
      if (chosen_rank(plane_index, r) <= 0) is_converged = false;
      if (!is_converged) break;
      double rounding_db = 0;
      PlaneResult result = make_result(plane_index, r, norm, rounding_db);
      is_converged = std::isfinite(result.residual);
      if (r >= outputs()) continue;  // of factors by a complete decomposition
      is_certified = is_certified && (result.is_certified(certificate) || is_last);
      is_rounding_limited = is_rounding_limited || !(rounding_db <= kMaxLossDb);
      if (rounding_db < result.loss_estimate_db)
        iteration_loss_db = std::max(iteration_loss_db, result.loss_estimate_db - rounding_db);
      unscale(result, task_plane.plane.scale);
      task_plane.task->results[r][std::size_t(task_plane.channel)] = result;
    }
    if (key_.min_factor_rank && is_converged) {
      const double error =
          triplet_error(spectrum_, values(plane_index), task_plane.plane,
                        chosen_rank(plane_index, largest_rank_index(plane_index)), norm);
      is_certified = is_certified && error <= kMaxTripletError;
      // So the tuner keeps both below their limits.
      iteration_loss_db = std::max(iteration_loss_db, kMaxLossDb * error / kMaxTripletError);
    }
    if (is_converged && is_certified) {
      if (key_.min_factor_rank) set_factors(plane_index, norm);
      certification.iteration_losses_db.push_back(iteration_loss_db);
    } else {
      TaskPlane& plane = certification.uncertified.emplace_back(task_plane);
      plane.needs.is_float64 = is_rounding_limited;
      if (is_converged && !is_rounding_limited)
        certification.iteration_losses_db.push_back(std::numeric_limits<double>::infinity());
    }
  }
  if (is_adaptive_ && !certification.uncertified.empty())
    certification.uncertified = whole_images(certification.uncertified);
  return certification;
}

/// Sets `rounding_db` to the part of the loss estimate that rounding causes.
PlaneResult Slot::make_result(std::size_t plane_index, std::size_t rank_index, double squared_norm,
                              double& rounding_db) const {
  const PlaneLayout& plane = task_planes_[plane_index].plane;
  PlaneResult result{.rank = chosen_rank(plane_index, rank_index), .solver = solver_};
  for (const TileError& error : errors(plane_index, rank_index)) {
    result.squared_error += error.squared_error;
    result.residual += error.residual;
  }
  rounding_db = set_spectral_results(result, spectrum_, values(plane_index), plane, squared_norm);
  return result;
}

std::span<const double> Slot::values(std::size_t plane_index) const {
  const auto count = std::size_t(spectrum_.values());
  return {values_.host.as<double>() + plane_index * count, count};
}

void Slot::set_spectrum(std::size_t plane_index) const {
  const TaskPlane& task_plane = task_planes_[plane_index];
  const PlaneLayout& plane = task_plane.plane;
  const std::vector<double> squares =
      squared_values(spectrum_, values(plane_index), plane.sample_bytes);
  const double unscale = 1 / (plane.scale * plane.scale);
  auto& spectra = task_plane.task->spectra;
  spectra.resize(std::size_t(plane.channels));
  spectra[std::size_t(task_plane.channel)] =
      singular_values({.values = squares.data(),
                       .scale = unscale,
                       .is_svd_of_a = spectrum_.precision == Precision::float64,
                       .count = plane.n(),
                       .rows = plane.rows,
                       .cols = plane.cols,
                       .squared_norm = unscale * squared_norm(plane_index)});
}

void Slot::set_factors(std::size_t plane_index, double squared_norm) const {
  const TaskPlane& task_plane = task_planes_[plane_index];
  const std::size_t largest = largest_rank_index(plane_index);
  eckart::Factors triplets = read_triplets(
      triplets_.host.as<>() + plane_index * triplet_layout_.plane_bytes(), triplet_layout_,
      task_plane.plane, chosen_rank(plane_index, largest), squared_norm);
  if (spectrum_.precision == Precision::float16) {
    double residual = 0;
    for (const TileError& error : errors(plane_index, largest)) residual += error.residual;
    match_residual(triplets, residual);
  }
  auto& factors = task_plane.task->factors;
  factors.resize(std::size_t(task_plane.plane.channels));
  factors[std::size_t(task_plane.channel)] = std::move(triplets);
}

std::size_t Slot::largest_rank_index(std::size_t plane_index) const {
  std::size_t largest = 0;
  for (std::size_t r = 1; r < ranks(); ++r)
    if (chosen_rank(plane_index, r) > chosen_rank(plane_index, largest)) largest = r;
  return largest;
}

/// Negative if it could not be chosen, see choose_batch_ranks().
int Slot::chosen_rank(std::size_t plane_index, std::size_t rank_index) const {
  if (is_adaptive_)
    return ranks_.host.as<int>()[rank_index * std::size_t(padded_planes_) + plane_index];
  const PlaneLayout& plane = task_planes_[plane_index].plane;
  return max_rank(key_.ranks[rank_index], plane.rows, plane.cols);
}

std::span<const TileError> Slot::errors(std::size_t plane_index, std::size_t rank_index) const {
  const TileErrorLayout all = tile_error_layout();
  return {errors_.host.as<TileError>() + all.first(plane_index, rank_index), all.tiles};
}

/// Of the samples multiplied by their scale. Exact up to 2^53: always for 8 bits, and for 16 bits
/// up to 2^21 samples.
double Slot::squared_norm(std::size_t plane_index) const {
  if (is_adaptive_) {
    const double scale = task_planes_[plane_index].plane.scale;
    return scale * scale * squared_norms_.host.as<double>()[plane_index];
  }
  long double sum = 0;  // the sum of many tiles of floats is not exact in a double
  for (const TileError& error : errors(plane_index, 0)) sum += error.squared_norm;
  return double(sum);
}

}  // namespace eckart::compute::cuda
