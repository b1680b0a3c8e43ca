#include "compute/cpu/factors.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "compute/cpu/float64_samples.hpp"
#include "compute/cpu/matrix_size.hpp"
#include "compute/task_rank_rule.hpp"
#include "core/error.hpp"
#include "core/rank_spec.hpp"

namespace eckart::compute::cpu {
namespace {

template <class Real>
double norm_of(const Real* column, int count) {
  double square = 0;
  for (int i = 0; i < count; ++i) square += double(column[i]) * double(column[i]);
  return std::sqrt(square);
}

double inverse_or_zero(double number) { return number > 0 ? 1 / number : 0; }

}  // namespace

template <class Real>
void set_factors(const Real* left_mk, const Real* right_nk, int k, double scale,
                 double squared_norm, Factors& factors) {
  const int rows = factors.rows, cols = factors.cols;
  const bool is_tall = rows >= cols;
  const Real* const u_rk = is_tall ? left_mk : right_nk;
  const Real* const v_ck = is_tall ? right_nk : left_mk;
  factors.squared_norm = squared_norm / (scale * scale);
  factors.s.resize(std::size_t(k));
  factors.u.resize(size(rows, k));
  factors.vt.resize(size(k, cols));
  for (int i = 0; i < k; ++i) {
    const Real *u = u_rk + size(rows, i), *v = v_ck + size(cols, i);
    const double u_norm = norm_of(u, rows), v_norm = norm_of(v, cols);
    factors.s[std::size_t(i)] = u_norm * v_norm / scale;
    const double u_scale = inverse_or_zero(u_norm), v_scale = inverse_or_zero(v_norm);
    for (int row = 0; row < rows; ++row)
      factors.u[size(row, k) + std::size_t(i)] = float(u_scale * double(u[row]));
    for (int col = 0; col < cols; ++col)
      factors.vt[size(i, cols) + std::size_t(col)] = float(v_scale * double(v[col]));
  }
}

template void set_factors(const float*, const float*, int, double, double, Factors&);
template void set_factors(const double*, const double*, int, double, double, Factors&);

namespace {

PlaneSpectrum spectrum_of(const Factors& matrix) {
  return {.values = matrix.s.data(),
          .are_roots = true,
          .count = matrix.rank(),
          .rows = matrix.rows,
          .cols = matrix.cols,
          .squared_norm = matrix.squared_norm};
}

[[noreturn]] void fail_for_rank(const RankPolicy& policy, std::span<const Factors> matrices) {
  std::string kept;
  for (const Factors& matrix : matrices)
    kept += (kept.empty() ? "" : ", ") + std::to_string(matrix.rank());
  throw ItemError(FailureReason::unsupported,
                  "rank " + to_string(policy) + " needs more singular values than the file has: " +
                      kept + " of " + std::to_string(std::min(matrices[0].rows, matrices[0].cols)));
}

/// Chooses ranks for a limit of the squared error: the known triplets of all channels compete, and
/// a channel of which all are used competes no longer. Returns whether they suffice. A file that
/// was written for the same limit may miss it by rounding.
bool choose_ranks_within(const RankRule& rule, std::vector<PlaneSpectrum> spectra,
                         std::vector<int>& ranks) {
  constexpr double kTolerance = 1e-3;  // 0.004 dB
  bool is_complete = true;
  double squared_norm = 0, squared_error = 0;
  for (PlaneSpectrum& spectrum : spectra) {
    is_complete = is_complete && spectrum.is_complete();
    squared_norm += spectrum.squared_norm;
    spectrum.rows = spectrum.cols = spectrum.count;
  }
  choose_ranks(rule, spectra.data(), int(spectra.size()), ranks.data());
  for (std::size_t c = 0; c < spectra.size(); ++c) {
    squared_error += spectra[c].squared_norm;
    for (int i = 0; i < ranks[c]; ++i) squared_error -= spectra[c][i];
  }
  const double limit =
      rule.kind == RankRule::Kind::missing_share ? rule.limit * squared_norm : rule.limit;
  return is_complete || squared_error <= (1 + kTolerance) * limit;
}

/// The ranks of the channels of a group; `full` is all that is known.
std::vector<int> choose_known_ranks(const Task& task, std::size_t output,
                                    const ChannelGroup& group) {
  const auto matrices =
      std::span(task.known_factors).subspan(std::size_t(group.first), std::size_t(group.count));
  std::vector<int> ranks;
  for (const Factors& matrix : matrices) ranks.push_back(matrix.rank());
  const RankPolicy& policy = rank_policy(task, output, group.first);
  if (policy.kind == RankPolicy::Kind::full) return ranks;
  std::vector<PlaneSpectrum> spectra;
  for (const Factors& matrix : matrices) spectra.push_back(spectrum_of(matrix));
  const RankRule rule = make_rank_rule(task, output, group.first);
  const bool limits_error =
      rule.kind == RankRule::Kind::missing_share || rule.kind == RankRule::Kind::squared_error;
  const bool is_enough = limits_error
                             ? choose_ranks_within(rule, spectra, ranks)
                             : choose_ranks(rule, spectra.data(), group.count, ranks.data());
  if (!is_enough) fail_for_rank(policy, matrices);
  return ranks;
}

/// The discarded energy is known; what concerns pixels is not, and nothing is certified.
PlaneResult result_of(const Factors& matrix, int rank) {
  double kept = 0;
  for (std::size_t i = 0; i < std::size_t(rank); ++i) kept += matrix.s[i] * matrix.s[i];
  return {.rank = rank,
          .energy = matrix.squared_norm > 0 ? std::min(kept / matrix.squared_norm, 1.0) : 1,
          .residual = std::max(matrix.squared_norm - kept, 0.0),
          .squared_error = std::numeric_limits<double>::quiet_NaN(),
          .loss_estimate_db = std::numeric_limits<double>::infinity(),
          .sigma1 = matrix.s.front(),
          .sigma_threshold = matrix.s[std::size_t(rank) - 1]};
}

/// Multiplies U diag(s) V' in float64, a block of rows at a time.
class Product {
 public:
  template <class T>
  void store(const Factors& matrix, int rank, MatrixView<T> out, int peak) {
    constexpr int kBlock = 64;
    const int cols = matrix.cols;
    vt_kc_.assign(matrix.vt.begin(), matrix.vt.begin() + std::ptrdiff_t(size(rank, cols)));
    values_.resize(size(kBlock, cols));
    for (int first = 0; first < matrix.rows; first += kBlock) {
      const int rows = std::min(kBlock, matrix.rows - first);
      load_rows(matrix, rank, first, rows);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, cols, rank, 1.0, us_rk_.data(),
                  rank, vt_kc_.data(), cols, 0.0, values_.data(), cols);
      for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
          out(first + row, col) = sample<T>(values_[size(row, cols) + std::size_t(col)], peak);
    }
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

void reconstruct_from_factors(Task& task) {
  const int max = peak(task.input.shape().depth);
  std::vector<int> largest(task.known_factors.size(), 1);
  Product product;
  for (std::size_t i = 0; i < task.ranks.size(); ++i) {
    for (const ChannelGroup& group : channel_groups(task)) {
      const std::vector<int> ranks = choose_known_ranks(task, i, group);
      for (int c = group.first; c < group.first + group.count; ++c) {
        const int rank = ranks[std::size_t(c - group.first)];
        const Factors& matrix = task.known_factors[std::size_t(c)];
        largest[std::size_t(c)] = std::max(largest[std::size_t(c)], rank);
        task.results[i][std::size_t(c)] = result_of(matrix, rank);
        with_sample_type(task.input.shape().depth, [&]<class T>(T*) {
          product.store(matrix, rank, task.outputs[i].plane<T>(c), max);
        });
      }
    }
  }
  if (!task.min_factor_rank) return;
  for (std::size_t c = 0; c < largest.size(); ++c)
    task.factors.push_back(truncated(task.known_factors[c], largest[c]));
}

}  // namespace eckart::compute::cpu
