#include "analysis/ssim.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace eckart::analysis {
namespace {

constexpr double kWindowPixels = kSsimWindow * kSsimWindow;

/// The constants of the formula, scaled to sums over a window.
struct Stabilizers {
  explicit Stabilizers(double peak)
      : mean(0.01 * peak * 0.01 * peak * kWindowPixels * kWindowPixels),
        variance(0.03 * peak * 0.03 * peak * kWindowPixels * (kWindowPixels - 1)) {}
  double mean, variance;
};

/// The similarity of a window. The products and squares are those of the sums of its samples;
/// `covariance` and `variances` are kWindowPixels times the sums of products of deviations.
double similarity(double product, double squares, double covariance, double variances,
                  const Stabilizers& stabilizers) {
  return (2 * product + stabilizers.mean) * (2 * covariance + stabilizers.variance) /
         ((squares + stabilizers.mean) * (variances + stabilizers.variance));
}

/// Sums over the last rows of two images of integers, for each sample of a row (channels
/// interleaved). All sums are exact: those of 8 bits in 32 bits, those of 16 bits in a double.
template <class Sample>
class ColumnSums {
 public:
  using Sum = std::conditional_t<sizeof(Sample) == 1, std::int32_t, double>;

  explicit ColumnSums(std::size_t samples)
      : a_(samples), b_(samples), squares_(samples), products_(samples) {}

  void add(const Sample* a, const Sample* b) {
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const Sum x = a[i], y = b[i];
      a_[i] += x;
      b_[i] += y;
      squares_[i] += x * x + y * y;
      products_[i] += x * y;
    }
  }

  /// Adds the rows `a` and `b` and subtracts earlier ones.
  void replace(const Sample* a, const Sample* b, const Sample* old_a, const Sample* old_b) {
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const Sum x = a[i], y = b[i], old_x = old_a[i], old_y = old_b[i];
      a_[i] += x - old_x;
      b_[i] += y - old_y;
      squares_[i] += x * x + y * y - old_x * old_x - old_y * old_y;
      products_[i] += x * y - old_x * old_y;
    }
  }

  /// Writes the similarity of each window of the current rows. `stride`: channels.
  void similarities(std::size_t stride, const Stabilizers& stabilizers,
                    std::vector<double>& out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double a = window(a_, i, stride), b = window(b_, i, stride);
      const double squares = window(squares_, i, stride), products = window(products_, i, stride);
      const double ab = a * b, aa_bb = a * a + b * b;
      out[i] = similarity(ab, aa_bb, kWindowPixels * products - ab, kWindowPixels * squares - aa_bb,
                          stabilizers);
    }
  }

 private:
  static double window(const std::vector<Sum>& sums, std::size_t at, std::size_t stride) {
    const Sum* first = sums.data() + at;
    Sum sum = first[0];
    for (std::size_t i = 1; i < kSsimWindow; ++i) sum += first[i * stride];
    return double(sum);
  }

  std::vector<Sum> a_, b_, squares_, products_;
};

/// The sums of the deviations of pairs (x, y) from a pivot. A pivot among the pairs keeps the
/// relative error of the variance to a few times that of a double, whatever their values are.
struct Deviations {
  double x = 0, y = 0, squares = 0, products = 0;

  void add(double dx, double dy) {
    x += dx;
    y += dy;
    squares += dx * dx + dy * dy;
    products += dx * dy;
  }
  // The same from the means of `count` pairs.
  double squares_from_means(int count) const { return squares - (x * x + y * y) / count; }
  double products_from_means(int count) const { return products - x * y / count; }
};

/// Moments of the last rows of two images of floats, for each sample of a row. They are computed
/// anew for each row: running sums would lose small samples after large ones.
class ColumnMoments {
 public:
  explicit ColumnMoments(std::size_t samples)
      : mean_a_(samples), mean_b_(samples), squares_(samples), products_(samples) {}

  /// Sets the moments of kSsimWindow rows that follow one another.
  void set(const float* a, const float* b) {
    const std::size_t samples = mean_a_.size();
    for (std::size_t i = 0; i < samples; ++i) {
      const double pivot_a = a[i], pivot_b = b[i];
      Deviations column;
      for (std::size_t row = 1; row < kSsimWindow; ++row)
        column.add(a[row * samples + i] - pivot_a, b[row * samples + i] - pivot_b);
      mean_a_[i] = pivot_a + column.x / kSsimWindow;
      mean_b_[i] = pivot_b + column.y / kSsimWindow;
      squares_[i] = column.squares_from_means(kSsimWindow);
      products_[i] = column.products_from_means(kSsimWindow);
    }
  }

  /// As ColumnSums::similarities(). The deviations of a window are those in its columns, and those
  /// of the means of its columns.
  void similarities(std::size_t stride, const Stabilizers& stabilizers,
                    std::vector<double>& out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      double squares = squares_[i], products = products_[i];
      Deviations means;
      for (std::size_t col = 1; col < kSsimWindow; ++col) {
        const std::size_t at = i + col * stride;
        squares += squares_[at];
        products += products_[at];
        means.add(mean_a_[at] - mean_a_[i], mean_b_[at] - mean_b_[i]);
      }
      squares += kSsimWindow * means.squares_from_means(kSsimWindow);
      products += kSsimWindow * means.products_from_means(kSsimWindow);
      const double a = kWindowPixels * mean_a_[i] + kSsimWindow * means.x;
      const double b = kWindowPixels * mean_b_[i] + kSsimWindow * means.y;
      out[i] = similarity(a * b, a * a + b * b, kWindowPixels * products, kWindowPixels * squares,
                          stabilizers);
    }
  }

 private:
  std::vector<double> mean_a_, mean_b_;
  std::vector<double> squares_, products_;  // of deviations from the means
};

template <class Sample>
double mean_similarity(const Image& a, const Image& b, double peak) {
  constexpr bool is_integral = std::is_integral_v<Sample>;
  const ImageShape& shape = a.shape();
  const std::size_t stride = std::size_t(shape.channels);
  const std::size_t row_samples = std::size_t(shape.cols) * stride;
  const auto row = [&](const Image& image, int r) {
    return reinterpret_cast<const Sample*>(image.data()) + std::size_t(r) * row_samples;
  };
  const Stabilizers stabilizers(peak);
  std::conditional_t<is_integral, ColumnSums<Sample>, ColumnMoments> columns(row_samples);
  std::vector<double> similarities(row_samples - (kSsimWindow - 1) * stride);
  double total = 0;
  for (int r = 0; r < shape.rows; ++r) {
    const int first = r - kSsimWindow + 1;
    if constexpr (is_integral) {
      if (first <= 0) {
        columns.add(row(a, r), row(b, r));
      } else {
        columns.replace(row(a, r), row(b, r), row(a, first - 1), row(b, first - 1));
      }
    }
    if (first < 0) continue;
    if constexpr (!is_integral) columns.set(row(a, first), row(b, first));
    columns.similarities(stride, stabilizers, similarities);
    total += std::accumulate(similarities.begin(), similarities.end(), 0.0);
  }
  return total / (double(similarities.size()) * (shape.rows - kSsimWindow + 1));
}

}  // namespace

double ssim(const Image& a, const Image& b, double peak) {
  const ImageShape& shape = a.shape();
  if (shape.rows < kSsimWindow || shape.cols < kSsimWindow)
    return std::numeric_limits<double>::quiet_NaN();
  return with_sample_type(
      shape.depth, [&]<class Sample>(Sample*) { return mean_similarity<Sample>(a, b, peak); });
}

}  // namespace eckart::analysis
