// Images of floats: the same promise as for integers, in every range, without clamping.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "core/quality.hpp"
#include "core/rank_spec.hpp"
#include "tests/backend/optimality.hpp"

namespace eckart::test {
namespace {

/// How the levels of a 16-bit image become floats.
struct FloatRange {
  double min, range;
};
constexpr FloatRange kRanges[] = {{0, 1}, {0, 1e-6}, {-3e5, 1e6}, {-2, 1}, {1000, 1}};

Image make_float_image(synth::SynthKind kind, int rows, int cols, int channels, FloatRange range) {
  const Image levels = make_image(kind, rows, cols, channels, Depth::u16);
  ImageShape shape = levels.shape();
  shape.depth = Depth::f32;
  Image image(shape);
  const auto* from = reinterpret_cast<const std::uint16_t*>(levels.data());
  auto* to = reinterpret_cast<float*>(image.data());
  for (std::size_t i = 0; i < shape.samples(); ++i)
    to[i] = float(range.min + range.range * from[i] / 65535);
  return image;
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double squared_tail(const ReferenceSvd& svd, int k) {
  return std::inner_product(svd.sigma.begin() + k, svd.sigma.end(), svd.sigma.begin() + k, 0.0);
}

class FloatTest : public BackendTest {
 protected:
  compute::Task reconstruct(const Image& image, std::string_view specs, double peak = 1,
                            bool wants_spectrum = false) {
    return BackendTest::reconstruct(image, specs, peak, wants_spectrum);
  }

  /// Expects that each output is optimal and that its results are those of its samples.
  static void expect_optimal(const Image& image, const compute::Task& task) {
    for (int c = 0; c < image.shape().channels; ++c) {
      const ReferenceSvd svd = reference_svd(image, c);
      // The sum of squares that float32 samples of this size cannot resolve.
      const double unit = largest_magnitude(svd.a) * 0x1p-24;
      const double unresolved = unit * unit * double(svd.a.size());
      for (std::size_t i = 0; i < task.outputs.size(); ++i) {
        const compute::PlaneResult& result = task.results[i][std::size_t(c)];
        SCOPED_TRACE(::testing::Message() << "rank " << result.rank << " channel " << c);
        const std::vector<double> out = float_samples(task.outputs[i], c);
        double error = 0;
        for (std::size_t s = 0; s < out.size(); ++s) error += std::pow(out[s] - svd.a[s], 2);
        EXPECT_NEAR(result.squared_error, error, 1e-6 * error + 1e-6 * unresolved);
        const double optimum = squared_tail(svd, result.rank);
        const double tolerance = std::pow(10, kMaxLossDb / 10);
        EXPECT_LE(result.residual, tolerance * optimum + unresolved);
        EXPECT_GE(result.residual, optimum / tolerance - unresolved);
        EXPECT_LE(result.loss_estimate_db, kMaxLossDb);
        EXPECT_NEAR(result.energy, 1 - optimum / svd.squared_norm(), 1e-5);
        EXPECT_NEAR(result.sigma1, svd.sigma[0], 1e-5 * svd.sigma[0]);
        const double smallest = svd.sigma[std::size_t(result.rank) - 1];
        EXPECT_NEAR(result.sigma_threshold, smallest, 1e-2 * smallest + 1e-5 * svd.sigma[0]);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, FloatTest, ::testing::ValuesIn(all_configs()), config_name);

TEST_P(FloatTest, is_optimal_in_every_range) {
  for (const FloatRange& range : kRanges) {
    SCOPED_TRACE(::testing::Message() << range.min << " + " << range.range);
    const Image image = make_float_image(synth::SynthKind::texture, 96, 64, 1, range);
    expect_optimal(image, reconstruct(image, "1,5,20,50"));
  }
}

TEST_P(FloatTest, is_optimal_in_color_and_for_wide_planes) {
  const Image image = make_float_image(synth::SynthKind::texture, 60, 90, 3, {-1, 2});
  expect_optimal(image, reconstruct(image, "3,17"));
}

/// Also a plane that is much weaker than the others.
TEST_P(FloatTest, scales_each_plane_by_itself) {
  Image image = make_float_image(synth::SynthKind::texture, 80, 64, 3, {-1, 2});
  const MatrixView<float> weak = image.plane<float>(1);
  for (int row = 0; row < weak.rows; ++row) {
    for (int col = 0; col < weak.cols; ++col) weak(row, col) *= 1e-12F;
  }
  expect_optimal(image, reconstruct(image, "7,20"));
}

TEST_P(FloatTest, gives_back_the_image_at_full_rank) {
  for (const synth::SynthKind kind : {synth::SynthKind::texture, synth::SynthKind::low_rank}) {
    const Image image = make_float_image(kind, 64, 48, 1, {-3e5, 1e6});
    const compute::Task task = reconstruct(image, "48");
    const std::vector<double> in = float_samples(image, 0), out = float_samples(task.outputs[0], 0);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(out[i], in[i], 1e-6 * 1e6);
  }
}

TEST_P(FloatTest, keeps_an_image_of_zeros) {
  Image image({20, 30, 1, Depth::f32});
  std::fill_n(reinterpret_cast<float*>(image.data()), image.shape().samples(), 0.0F);
  const compute::Task task = reconstruct(image, "3,psnr:40");
  for (const Image& output : task.outputs)
    EXPECT_EQ(largest_magnitude(float_samples(output, 0)), 0);
}

/// Multiplying by a power of two changes nothing but the exponents.
TEST_P(FloatTest, does_not_depend_on_the_unit) {
  const Image image = make_float_image(synth::SynthKind::texture, 72, 64, 1, {-1, 3});
  constexpr float kUnit = 0x1p-10F;
  Image small = copy(image);
  auto* samples = reinterpret_cast<float*>(small.data());
  for (std::size_t i = 0; i < small.shape().samples(); ++i) samples[i] *= kUnit;
  const compute::Task task = reconstruct(image, "6,psnr:30,energy:0.99,gd,rmse:0.125", 3, true);
  const compute::Task scaled =
      reconstruct(small, "6,psnr:30,energy:0.99,gd,rmse:0.0001220703125", 3 * kUnit, true);
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    EXPECT_EQ(scaled.results[i][0].rank, task.results[i][0].rank) << i;
    EXPECT_DOUBLE_EQ(scaled.results[i][0].residual, task.results[i][0].residual * kUnit * kUnit);
    std::vector<double> expected = float_samples(task.outputs[i], 0);
    for (double& value : expected) value *= kUnit;
    EXPECT_EQ(float_samples(scaled.outputs[i], 0), expected) << i;
  }
  const std::vector<double> sigma = reference_svd(image, 0).sigma;
  for (std::size_t i = 0; i < sigma.size(); ++i) {
    EXPECT_NEAR(task.spectra[0][i], sigma[i], 1e-6 * sigma[0]);
    EXPECT_NEAR(scaled.spectra[0][i], sigma[i] * kUnit, 1e-6 * sigma[0] * kUnit);
  }
}

TEST_P(FloatTest, meets_targets_of_quality) {
  const Image image = make_float_image(synth::SynthKind::texture, 90, 64, 3, {-5e-7, 1e-6});
  for (const char* spec : {"psnr:30", "psnr:45", "rmse:0.00000001", "energy:0.995"}) {
    SCOPED_TRACE(spec);
    const compute::Task task = reconstruct(image, spec, 1e-6);
    expect_optimal(image, task);
    const RankPolicy policy = parse_ranks(spec)[0];
    double squared_error = 0, without_last = 0, squared_norm = 0;
    double weakest = std::numeric_limits<double>::infinity();
    for (int c = 0; c < 3; ++c) {
      const compute::PlaneResult& result = task.results[0][std::size_t(c)];
      const ReferenceSvd svd = reference_svd(image, c);
      squared_error += result.squared_error;
      squared_norm += svd.squared_norm();
      weakest = std::min(weakest, std::pow(svd.sigma[std::size_t(result.rank) - 1], 2));
    }
    without_last = squared_error + weakest;
    const double count = double(image.shape().samples());
    const double limit =
        policy.kind == RankPolicy::Kind::psnr   ? count * 1e-12 / std::pow(10, policy.value / 10)
        : policy.kind == RankPolicy::Kind::rmse ? count * policy.value * policy.value
                                                : (1 - policy.value) * squared_norm;
    EXPECT_LE(squared_error, limit * 1.0001);
    EXPECT_GE(without_last, limit / std::pow(10, kMaxLossDb / 10)) << "no rank less is enough";
  }
}

}  // namespace
}  // namespace eckart::test
