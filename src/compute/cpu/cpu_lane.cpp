#include "compute/cpu/cpu_lane.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "compute/cpu/right_singular_vectors.hpp"
#include "core/error.hpp"
#include "core/spectrum.hpp"

namespace eckart::cpu {
namespace {

/// A's samples as float64, m x n with m >= n: row by row, which is A transposed in column-major
/// order.
template <class T>
double unpack(MatrixView<const T> a_mn, std::vector<double>& a_t_nm) {
  double squared_norm = 0;
  a_t_nm.resize(std::size_t(a_mn.rows) * std::size_t(a_mn.cols));
  auto to = a_t_nm.begin();
  for (int row = 0; row < a_mn.rows; ++row) {
    for (int col = 0; col < a_mn.cols; ++col) {
      const double value = a_mn(row, col);
      squared_norm += value * value;
      *to++ = value;
    }
  }
  return squared_norm;
}

/// Clamps, rounds to nearest even and stores; adds up both squared errors.
template <class T>
void pack(const std::vector<double>& values, MatrixView<const T> a_mn, int top,
          MatrixView<T> out_mn, PlaneResult& result) {
  auto from = values.begin();
  for (int row = 0; row < a_mn.rows; ++row) {
    for (int col = 0; col < a_mn.cols; ++col) {
      const double value = *from++;
      const double stored = std::nearbyint(std::clamp(value, 0.0, double(top)));
      const double before = value - a_mn(row, col);
      const double after = stored - a_mn(row, col);
      result.residual += before * before;
      result.squared_error += after * after;
      out_mn(row, col) = T(stored);
    }
  }
}

/// Rows and columns exchanged where that makes rows >= cols.
template <class T>
MatrixView<T> upright(MatrixView<T> view) {
  return view.rows >= view.cols ? view : view.transposed();
}

class CpuLane : public Lane {
 public:
  CpuLane(SolverKind solver, const std::vector<RankPolicy>& ranks)
      : solver_(solver), ranks_(ranks) {}

  int slots() const override { return 1; }
  void start(int, PaddedShape, std::span<Task* const> tasks) override {
    for (Task* task : tasks) {
      try {
        for (int channel = 0; channel < task->input.shape().channels; ++channel) {
          if (task->input.shape().depth == Depth::u8) {
            reconstruct<std::uint8_t>(*task, channel);
          } else {
            reconstruct<std::uint16_t>(*task, channel);
          }
        }
      } catch (const ItemError& error) {
        task->error = error.what();
      }
    }
  }
  void finish(int) override {}

 private:
  template <class T>
  void reconstruct(Task& task, int channel) {
    const auto a_mn = upright(std::as_const(task.input).plane<T>(channel));
    const int m = a_mn.rows, n = a_mn.cols;
    int k_max = 0;
    for (const RankPolicy& policy : ranks_) k_max = std::max(k_max, choose_rank(policy, m, n));
    const double squared_norm = unpack(a_mn, a_t_nm_);
    const RightSingularVectors& right = solver_.solve(a_t_nm_, m, n, k_max);

    p_mk_.resize(std::size_t(m) * std::size_t(k_max));  // A V = U Sigma
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, k_max, n, 1.0, a_t_nm_.data(), n,
                right.v_nk.data(), n, 0.0, p_mk_.data(), m);
    values_.resize(a_t_nm_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const int k = choose_rank(ranks_[i], m, n);
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, m, k, 1.0, right.v_nk.data(), n,
                  p_mk_.data(), m, 0.0, values_.data(), n);
      PlaneResult result{
          .rank = k,
          .energy = energy(std::span(right.sigma_squared).first(std::size_t(k)), squared_norm)};
      pack(values_, a_mn, peak(task.input.shape().depth),
           upright(task.outputs[i].plane<T>(channel)), result);
      task.results[i][std::size_t(channel)] = result;
    }
  }

  RightSingularSolver solver_;
  const std::vector<RankPolicy> ranks_;
  std::vector<double> a_t_nm_, p_mk_, values_;
};

}  // namespace

std::unique_ptr<Lane> make_lane(SolverKind solver, const std::vector<RankPolicy>& ranks) {
  return std::make_unique<CpuLane>(solver, ranks);
}

}  // namespace eckart::cpu
