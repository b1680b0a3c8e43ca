// Singular values in the results: every backend and solver tells those of the float64 SVD.
#include <algorithm>
#include <cmath>

#include "core/rank_spec.hpp"
#include "tests/backend/optimality.hpp"

namespace eckart::test {
namespace {

class SpectrumTest : public BackendTest {
 protected:
  compute::Task reconstruct(const Image& image, std::string_view specs, bool wants_spectrum) {
    return BackendTest::reconstruct(image, specs, peak(image.shape().depth), wants_spectrum);
  }

  static void expect_true_values(const Image& image, const compute::Task& task) {
    for (int c = 0; c < image.shape().channels; ++c) {
      const std::vector<double> sigma = reference_svd(image, c).sigma;
      for (const auto& planes : task.results) {
        const compute::PlaneResult& result = planes[std::size_t(c)];
        EXPECT_NEAR(result.sigma1, sigma[0], 1e-4 * sigma[0]);
        EXPECT_NEAR(result.sigma_threshold, sigma[std::size_t(result.rank) - 1],
                    1e-2 * result.sigma_threshold + 1e-6 * sigma[0]);
        EXPECT_TRUE(result.solver.has_value());
        if (GetParam().is_exact()) {
          EXPECT_EQ(result.solver, GetParam().solver);
        }
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, SpectrumTest, ::testing::ValuesIn(all_configs()), config_name);

TEST_P(SpectrumTest, tells_the_first_and_the_last_value_that_is_kept) {
  for (const Image& image : {make_image(synth::SynthKind::texture, 160, 128, 3),
                             make_image(synth::SynthKind::phantom, 96, 128, 1, Depth::u16)})
    expect_true_values(image, reconstruct(image, "1,10,psnr:35", false));
}

TEST_P(SpectrumTest, gives_all_values_if_they_are_wanted) {
  for (const char* specs : {"3,20", "psnr:30,energy:0.9", "gd"}) {
    for (const Image& image : {make_image(synth::SynthKind::texture, 128, 90, 3),
                               make_image(synth::SynthKind::noise, 40, 128, 1, Depth::u16)}) {
      const compute::Task task = reconstruct(image, specs, true);
      expect_true_values(image, task);
      ASSERT_EQ(int(task.spectra.size()), image.shape().channels);
      for (int c = 0; c < image.shape().channels; ++c) {
        const std::vector<double> sigma = reference_svd(image, c).sigma;
        const std::vector<double>& values = task.spectra[std::size_t(c)];
        ASSERT_EQ(values.size(), sigma.size());
        for (std::size_t i = 0; i < sigma.size(); ++i)
          EXPECT_NEAR(values[i], sigma[i], 1e-6 * sigma[0]) << i;
      }
    }
  }
}

TEST_P(SpectrumTest, has_zeros_below_the_rank_of_the_image) {
  const Image image = make_image(synth::SynthKind::low_rank, 64, 48);
  const compute::Task task = reconstruct(image, "2", true);
  EXPECT_TRUE(std::ranges::is_sorted(task.spectra[0], std::greater<>()));
  EXPECT_LT(task.spectra[0].back(), 1e-6 * task.spectra[0].front());
  EXPECT_TRUE(reconstruct(image, "2", false).spectra.empty());
}

}  // namespace
}  // namespace eckart::test
