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

/// Sums over the last rows of two images, for each sample of a row (channels interleaved). All sums
/// of integer samples are exact: those of 8 bits in 32 bits, those of 16 bits in a double. Float
/// samples are added in a double.
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
      out[i] =
          (2 * ab + stabilizers.mean) *
          (2 * (kWindowPixels * products - ab) + stabilizers.variance) /
          ((aa_bb + stabilizers.mean) * (kWindowPixels * squares - aa_bb + stabilizers.variance));
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

template <class Sample>
double mean_similarity(const Image& a, const Image& b, double peak) {
  const ImageShape& shape = a.shape();
  const std::size_t stride = std::size_t(shape.channels);
  const std::size_t row_samples = std::size_t(shape.cols) * stride;
  const auto row = [&](const Image& image, int r) {
    return reinterpret_cast<const Sample*>(image.data()) + std::size_t(r) * row_samples;
  };
  const Stabilizers stabilizers(peak);
  ColumnSums<Sample> sums(row_samples);
  std::vector<double> similarities(row_samples - (kSsimWindow - 1) * stride);
  double total = 0;
  for (int r = 0; r < shape.rows; ++r) {
    const int old = r - kSsimWindow;
    if (old < 0) {
      sums.add(row(a, r), row(b, r));
    } else {
      sums.replace(row(a, r), row(b, r), row(a, old), row(b, old));
    }
    if (r < kSsimWindow - 1) continue;
    sums.similarities(stride, stabilizers, similarities);
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
