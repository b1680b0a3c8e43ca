#include "tests/backend/optimality.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compute/spectrum.hpp"
#include "core/quality.hpp"

namespace eckart::test {
namespace {

std::vector<double> squares(std::vector<double> values) {
  for (double& value : values) value *= value;
  return values;
}

/// The allowed difference of the energy from the optimum: the equivalent of a loss of 0.01 dB.
double energy_tolerance(double optimum, double norm) {
  constexpr double kOptimal = 1e-9;
  if (BackendTest::GetParam().is_exact() || norm <= 0) return kOptimal;
  return kOptimal + (std::pow(10, kMaxLossDb / 10) - 1) * optimum / norm;
}

/// The loss of a result against the optimum. It is 0 if the written pixels equal the input's,
/// although the error before rounding may be a few tenths above the optimum.
double actual_loss_db(const compute::PlaneResult& result, double squared_error, double optimum) {
  return is_exact_reconstruction(squared_error, result.residual)
             ? 0
             : loss_db(result.residual, optimum);
}

}  // namespace

Image make_image(synth::SynthKind kind, int rows, int cols, int channels, Depth depth) {
  return synth::synthesize({.kind = kind,
                            .rows = rows,
                            .cols = cols,
                            .channels = channels,
                            .depth = depth,
                            .rank = std::min({2, rows, cols}),
                            .noise_sigma = kind == synth::SynthKind::noise ? 25.0 : 0.0,
                            .seed = 7});
}

void expect_optimal(const Image& image, const compute::Task& task, const std::vector<int>& ranks) {
  std::vector<ReferenceSvd> svds;
  for (int channel = 0; channel < image.shape().channels; ++channel)
    svds.push_back(reference_svd(image, channel));
  expect_optimal(image, task, ranks, svds);
}

void expect_optimal(const Image& image, const compute::Task& task, const std::vector<int>& ranks,
                    std::span<const ReferenceSvd> svds) {
  for (int channel = 0; channel < image.shape().channels; ++channel) {
    const ReferenceSvd& svd = svds[std::size_t(channel)];
    const double norm = svd.squared_norm();
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      SCOPED_TRACE(::testing::Message() << image.shape().rows << " x " << image.shape().cols
                                        << " channel " << channel << " rank " << ranks[r]);
      const compute::PlaneResult& result = task.results[r][std::size_t(channel)];
      const int k = std::min(ranks[r], svd.n);
      const double optimum = compute::optimal_error(squares(svd.sigma), k);
      EXPECT_EQ(result.rank, k);
      const std::vector<int> in = samples(image, channel), out = samples(task.outputs[r], channel);
      double squared_error = 0;
      for (std::size_t i = 0; i < in.size(); ++i) squared_error += std::pow(in[i] - out[i], 2);
      const double loss = actual_loss_db(result, squared_error, optimum);
      EXPECT_LE(loss, kMaxLossDb);
      EXPECT_GE(loss, -kMaxLossDb);  // no rank-k matrix has a smaller error
      EXPECT_LE(loss, result.loss_estimate_db + 1e-6);
      EXPECT_LE(result.loss_estimate_db, kMaxLossDb);
      if (BackendTest::GetParam().certificate == Certificate::bound) {
        EXPECT_LE(loss, result.loss_bound_db + 1e-9);
        EXPECT_LE(result.loss_bound_db, kMaxLossDb);
      }
      EXPECT_NEAR(result.energy, norm > 0 ? 1 - optimum / norm : 1,
                  energy_tolerance(optimum, norm));
      EXPECT_EQ(result.squared_error, squared_error);
    }
  }
}

void expect_valid_certificate(const Image& image, const compute::Task& task,
                              const std::vector<int>& ranks) {
  const std::vector<double> sigma_squared = squares(reference_svd(image, 0).sigma);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const compute::PlaneResult& result = task.results[r][0];
    EXPECT_LE(actual_loss_db(result, result.squared_error,
                             compute::optimal_error(sigma_squared, ranks[r])),
              result.loss_estimate_db + 1e-6)
        << "rank " << ranks[r];
  }
}

void PixelComparison::add(const Image& image, const ReferenceSvd& svd, int k, const Image& output) {
  const std::vector<int> expected = to_samples(svd.reconstruct(k), Depth::u8);
  const std::vector<int> found = samples(output, 0);
  double expected_error = 0, found_error = 0;
  const std::vector<int> in = samples(image, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_LE(std::abs(expected[i] - found[i]), 1);
    different_ += expected[i] != found[i];
    expected_error += std::pow(expected[i] - in[i], 2);
    found_error += std::pow(found[i] - in[i], 2);
  }
  compared_ += std::int64_t(expected.size());
  EXPECT_LE(loss_db(found_error, expected_error), kMaxLossDb);
}

}  // namespace eckart::test
