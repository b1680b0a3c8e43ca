#include "compute/cpu/factors.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/certificate.hpp"
#include "compute/cpu/float64_samples.hpp"
#include "compute/cpu/matrix_size.hpp"
#include "compute/known_ranks.hpp"
#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

double norm_of(const double* column, int count) {
  double square = 0;
  for (int i = 0; i < count; ++i) square += column[i] * column[i];
  return std::sqrt(square);
}

double inverse_or_zero(double number) { return number > 0 ? 1 / number : 0; }

}  // namespace

void set_factors(const double* left_mk, const double* right_nk, int k, double scale,
                 double squared_norm, eckart::Factors& factors) {
  const int rows = factors.rows, cols = factors.cols;
  const bool is_tall = rows >= cols;
  const double* const u_rk = is_tall ? left_mk : right_nk;
  const double* const v_ck = is_tall ? right_nk : left_mk;
  factors.squared_norm = squared_norm / (scale * scale);
  factors.s.resize(std::size_t(k));
  factors.u.resize(size(rows, k));
  factors.vt.resize(size(k, cols));
  for (int i = 0; i < k; ++i) {
    const double *u = u_rk + size(rows, i), *v = v_ck + size(cols, i);
    const double u_norm = norm_of(u, rows), v_norm = norm_of(v, cols);
    factors.s[std::size_t(i)] = u_norm * v_norm / scale;
    const double u_scale = inverse_or_zero(u_norm), v_scale = inverse_or_zero(v_norm);
    for (int row = 0; row < rows; ++row)
      factors.u[size(row, k) + std::size_t(i)] = float(u_scale * u[row]);
    for (int col = 0; col < cols; ++col)
      factors.vt[size(i, cols) + std::size_t(col)] = float(v_scale * v[col]);
  }
}

namespace {

std::span<const Factors> matrices_of(const Task& task, const ChannelGroup& group) {
  return std::span(task.known_factors).subspan(std::size_t(group.first), std::size_t(group.count));
}

/// What storing an output of a plane measured.
struct PlaneErrors {
  double squared_norm = 0;   ///< of the input
  double residual = 0;       ///< before clamping and rounding
  double squared_error = 0;  ///< of the samples stored
};

/// The discarded energy is known; what concerns samples is not, and nothing is certified.
PlaneResult result_of(const Factors& matrix, int rank) {
  double kept = 0;
  for (std::size_t i = 0; i < std::size_t(rank); ++i) kept += matrix.s[i] * matrix.s[i];
  return {.rank = rank,
          .energy = matrix.squared_norm > 0 ? std::min(kept / matrix.squared_norm, 1.0) : 1,
          .squared_norm = matrix.squared_norm,
          .residual = std::max(matrix.squared_norm - kept, 0.0),
          .squared_error = std::numeric_limits<double>::quiet_NaN(),
          .loss_estimate_db = std::numeric_limits<double>::infinity(),
          .is_from_factors = true,
          .sigma1 = matrix.s.front(),
          .sigma_threshold = matrix.s[std::size_t(rank) - 1]};
}

/// The loss of a rank whose residual was measured, if that of all triplets is at most
/// `known_loss_db`. Each triplet has at most the energy of the optimal one (Cauchy interlacing), so
/// a lower rank misses at most what all triplets miss.
double loss_of_rank(const Factors& matrix, int rank, const PlaneErrors& errors,
                    double known_loss_db) {
  double residual_of_all = errors.residual;
  for (int i = rank; i < matrix.rank(); ++i)
    residual_of_all -= matrix.s[std::size_t(i)] * matrix.s[std::size_t(i)];
  const double gap =
      std::max(residual_of_all, 0.0) * (1 - std::pow(10, -std::max(known_loss_db, 0.0) / 10));
  const double rounding_db =
      loss_estimate_db(rank, std::min(matrix.rows, matrix.cols), errors.residual,
                       errors.squared_norm, Precision::float32);
  if (rounding_db == 0) return 0;  // every sample equals that of the input
  return rounding_db - 10 * std::log10(1 - gap / errors.residual);
}

/// Whether the factors are those of the matrix that was read: its norm is the same, and what they
/// discard is what their singular values tell.
bool are_factors_of_matrix(const PlaneResult& told, const PlaneErrors& errors) {
  constexpr double kNormTolerance = 1e-9;
  constexpr double kResidualTolerance = 5e-3;  // 0.02 dB
  const double rounding = kNormTolerance * errors.squared_norm;
  return std::abs(told.squared_norm - errors.squared_norm) <= rounding &&
         std::abs(told.residual - errors.residual) <=
             kResidualTolerance * errors.residual + rounding;
}

/// Multiplies U diag(s) V' in float64, a block of rows at a time.
class Product {
 public:
  /// The errors are those against `input`.
  template <class T>
  PlaneErrors store(const Factors& matrix, int rank, MatrixView<const T> input, MatrixView<T> out,
                    int peak) {
    constexpr int kBlock = 64;
    const int cols = matrix.cols;
    PlaneErrors errors;
    vt_kc_.assign(matrix.vt.begin(), matrix.vt.begin() + std::ptrdiff_t(size(rank, cols)));
    values_.resize(size(kBlock, cols));
    for (int first = 0; first < matrix.rows; first += kBlock) {
      const int rows = std::min(kBlock, matrix.rows - first);
      load_rows(matrix, rank, first, rows);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, cols, rank, 1.0, us_rk_.data(),
                  rank, vt_kc_.data(), cols, 0.0, values_.data(), cols);
      for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
          const double original = input(first + row, col),
                       value = values_[size(row, cols) + std::size_t(col)];
          const T stored = sample<T>(value, peak);
          errors.squared_norm += original * original;
          errors.residual += (value - original) * (value - original);
          errors.squared_error += (stored - original) * (stored - original);
          out(first + row, col) = stored;
        }
      }
    }
    return errors;
  }

 private:
  /// U diag(s) of some rows.
  void load_rows(const Factors& matrix, int rank, int first, int rows) {
    us_rk_.resize(size(rows, rank));
    for (int row = 0; row < rows; ++row) {
      const float* u = matrix.u.data() + size(first + row, matrix.rank());
      for (int i = 0; i < rank; ++i)
        us_rk_[size(row, rank) + std::size_t(i)] = matrix.s[std::size_t(i)] * double(u[i]);
    }
  }
  template <class T>
  static T sample(double value, int peak) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr double kMax = std::numeric_limits<float>::max();
      value = std::clamp(value, -kMax, kMax);
    }
    return to_sample<T>(value, peak, 1);
  }

  std::vector<double> vt_kc_, us_rk_, values_;
};

Factors truncated(const Factors& matrix, int rank) {
  Factors result{
      .rows = matrix.rows,
      .cols = matrix.cols,
      .s = {matrix.s.begin(), matrix.s.begin() + rank},
      .u = {},
      .vt = {matrix.vt.begin(), matrix.vt.begin() + std::ptrdiff_t(size(rank, matrix.cols))},
      .squared_norm = matrix.squared_norm};
  result.u.reserve(size(matrix.rows, rank));
  for (int row = 0; row < matrix.rows; ++row) {
    const float* u = matrix.u.data() + size(row, matrix.rank());
    result.u.insert(result.u.end(), u, u + rank);
  }
  return result;
}

}  // namespace

bool reconstruct_from_factors(Task& task) {
  const int max = peak(task.input.shape().depth);
  const bool has_samples = task.known_loss_db.has_value();
  if (has_samples && !do_known_factors_suffice(task)) return false;
  std::vector<int> largest(task.known_factors.size(), 1);
  Product product;
  for (std::size_t i = 0; i < task.ranks.size(); ++i) {
    for (const ChannelGroup& group : channel_groups(task)) {
      const auto ranks = choose_known_ranks(task, i, group);
      if (!ranks)
        throw ItemError(FailureReason::unsupported,
                        "a rank needs " + describe_missing_triplets(matrices_of(task, group)));
      for (int c = group.first; c < group.first + group.count; ++c) {
        const int rank = (*ranks)[std::size_t(c - group.first)];
        const Factors& matrix = task.known_factors[std::size_t(c)];
        PlaneResult& result = task.results[i][std::size_t(c)];
        largest[std::size_t(c)] = std::max(largest[std::size_t(c)], rank);
        result = result_of(matrix, rank);
        const PlaneErrors errors = with_sample_type(task.input.shape().depth, [&]<class T>(T*) {
          return product.store(matrix, rank, std::as_const(task.input).plane<T>(c),
                               task.outputs[i].plane<T>(c), max);
        });
        if (!has_samples) continue;
        const bool is_same_matrix = are_factors_of_matrix(result, errors);
        result.residual = errors.residual;
        result.squared_error = errors.squared_error;
        result.loss_estimate_db = loss_of_rank(matrix, rank, errors, *task.known_loss_db);
        if (!is_same_matrix || !result.is_certified(Certificate::estimate)) return false;
      }
    }
  }
  if (!task.min_factor_rank) return true;
  for (std::size_t c = 0; c < largest.size(); ++c)
    task.factors.push_back(
        truncated(task.known_factors[c], std::max(largest[c], *task.min_factor_rank)));
  return true;
}

}  // namespace eckart::compute::cpu
