#include "compute/cpu/image_decomposition.hpp"

#include <cblas.h>

#include <cstdint>
#include <functional>
#include <future>
#include <utility>

#include "compute/cpu/as_tall.hpp"
#include "compute/cpu/float64_samples.hpp"
#include "compute/cpu/low_rank_product.hpp"
#include "compute/cpu/matrix_size.hpp"
#include "compute/cpu/openblas_overrides.hpp"
#include "compute/cpu/right_singular_vectors.hpp"

namespace eckart::compute::cpu {
namespace {

/// A squared error of at most this share of ||A||_F^2 is rounding of float64.
constexpr double kRoundingShare = 1e-24;

/// Returns the squared error before rounding.
template <class T>
double store_rounded(const std::vector<double>& values, MatrixView<const T> a_mn, int peak,
                     MatrixView<T> out_mn) {
  double squared_error = 0;
  auto from = values.begin();
  for (int row = 0; row < out_mn.rows; ++row) {
    for (int col = 0; col < out_mn.cols; ++col) {
      const double value = *from++, error = value - double(a_mn(row, col));
      squared_error += error * error;
      out_mn(row, col) = to_sample<T>(value, peak, 1);
    }
  }
  return squared_error;
}

/// Calls `use` for each index below `count`, on one thread each. Throws what a call threw.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& use) {
  std::vector<std::future<void>> calls;
  for (std::size_t i = 1; i < count; ++i)
    calls.push_back(std::async(std::launch::async, [&use, i] { use(i); }));
  use(0);
  for (std::future<void>& call : calls) call.get();
}

}  // namespace

/// One channel as an m x n matrix A, m >= n: transposed if it is wide. A_k = (A V_k) V_k'.
class PlaneDecomposition {
 public:
  PlaneDecomposition(const Image& image, int channel) {
    with_sample_type(image.shape().depth, [&]<class T>(T*) { load(image.plane<T>(channel)); });
  }

  void decompose() { sigma_squared_ = solver_.decompose(a_t_nm_, m_, n_); }

  PlaneSpectrum spectrum() const {
    return {.values = sigma_squared_.data(),
            .count = n_,
            .rows = m_,
            .cols = n_,
            .squared_norm = squared_norm_};
  }

  void compute_vectors(int max_rank) {
    v_nk_ = solver_.vectors(max_rank);
    p_mk_.resize(size(m_, max_rank));
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m_, max_rank, n_, 1.0, a_t_nm_.data(), n_,
                v_nk_.data(), n_, 0.0, p_mk_.data(), m_);
    values_ = std::move(a_t_nm_);  // its memory
  }

  void move_to(int rank) {
    change_rank({v_nk_, p_mk_, m_, n_}, std::exchange(rank_, rank), rank, values_);
  }

  void store(const Image& image, int channel, Image& rounded) {
    const int max = peak(image.shape().depth);
    with_sample_type(image.shape().depth, [&]<class T>(T*) {
      squared_error_ = store_rounded(values_, as_tall(image.plane<T>(channel)), max,
                                     as_tall(rounded.plane<T>(channel)));
    });
    if (squared_error_ <= kRoundingShare * squared_norm_) squared_error_ = 0;
  }

  /// Of the last reconstruction, before rounding.
  double squared_error() const { return squared_error_; }

 private:
  template <class T>
  void load(MatrixView<const T> plane) {
    const MatrixView<const T> a_mn = as_tall(plane);
    m_ = a_mn.rows;
    n_ = a_mn.cols;
    squared_norm_ = load_samples(a_mn, 1, a_t_nm_);
  }

  RightSingularSolver solver_{SolverKind::gram};
  int m_ = 0, n_ = 0, rank_ = 0;
  double squared_norm_ = 0, squared_error_ = 0;
  std::vector<double> sigma_squared_, a_t_nm_, v_nk_, p_mk_;
  std::vector<double> values_;  // A_k' at rank_, column-major n x m
};

ImageDecomposition::ImageDecomposition(const Image& image) : image_(image), shape_(image.shape()) {
  openblas_set_num_threads(1);
  make_openblas_buffers(shape_.channels, "128 MiB per channel");
  for (int channel = 0; channel < shape_.channels; ++channel)
    planes_.push_back(std::make_unique<PlaneDecomposition>(image, channel));
  for_each_in_parallel(planes_.size(), [this](std::size_t i) { planes_[i]->decompose(); });
}

ImageDecomposition::~ImageDecomposition() = default;

std::vector<PlaneSpectrum> ImageDecomposition::spectra() const {
  std::vector<PlaneSpectrum> spectra;
  for (const auto& plane : planes_) spectra.push_back(plane->spectrum());
  return spectra;
}

void ImageDecomposition::compute_vectors(std::span<const int> max_ranks) {
  for_each_in_parallel(planes_.size(),
                       [&](std::size_t i) { planes_[i]->compute_vectors(max_ranks[i]); });
}

double ImageDecomposition::reconstruct(std::span<const int> ranks, Image& rounded) {
  for_each_in_parallel(planes_.size(), [&](std::size_t i) {
    planes_[i]->move_to(ranks[i]);
    planes_[i]->store(image_, int(i), rounded);
  });
  double squared_error = 0;
  for (const auto& plane : planes_) squared_error += plane->squared_error();
  return squared_error;
}

}  // namespace eckart::compute::cpu
