// Ranks that depend on the singular values: every backend and solver chooses those of the float64
// SVD, within the promised loss.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string_view>

#include "compute/rank_rule.hpp"
#include "core/quality.hpp"
#include "core/rank_spec.hpp"
#include "tests/backend/optimality.hpp"

namespace eckart::test {
namespace {

class RankChoiceTest : public BackendTest {
 protected:
  static compute::Task make_task(const Image& image, std::string_view specs) {
    compute::Task task;
    task.input = copy(image);
    task.peak = peak(image.shape().depth);
    for (const RankPolicy& policy : parse_ranks(specs)) {
      task.ranks.push_back(resolve(policy, image.shape()));
      task.outputs.emplace_back(image.shape());
      task.results.emplace_back(std::size_t(image.shape().channels));
    }
    return task;
  }

  compute::Task reconstruct_by(const Image& image, std::string_view specs) {
    std::vector<compute::Task> tasks;
    tasks.push_back(make_task(image, specs));
    reconstruct(tasks);
    return std::move(tasks.front());
  }

  /// Reconstructs all tasks in one batch. Their shapes and specs must be equal.
  void reconstruct(std::vector<compute::Task>& tasks) {
    const auto backend = make();
    const auto lane = backend->make_lane(0);
    std::vector<compute::Task*> batch;
    for (compute::Task& task : tasks) batch.push_back(&task);
    lane->start(0, compute::batch_key(*batch.front(), 32), batch);
    lane->finish(0);
    for (const compute::Task& task : tasks) EXPECT_EQ(task.error, "");
  }

  static std::vector<int> ranks(const compute::Task& task, std::size_t output = 0) {
    std::vector<int> all;
    for (const compute::PlaneResult& plane : task.results[output]) all.push_back(plane.rank);
    return all;
  }

  /// Expects the ranks that the singular values of the float64 SVD give, and the errors that these
  /// ranks have. A loss of 0.01 dB may move a rank over the limit.
  static void expect_chosen_ranks(const Image& image, const compute::Task& task,
                                  std::string_view specs) {
    const std::vector<RankPolicy> policies = parse_ranks(specs);
    const int channels = image.shape().channels;
    std::vector<std::vector<double>> values;
    std::vector<compute::PlaneSpectrum> spectra;
    for (int c = 0; c < channels; ++c) {
      const ReferenceSvd svd = reference_svd(image, c);
      values.push_back(svd.sigma);
      for (double& value : values.back()) value *= value;
      spectra.push_back(
          {.count = svd.n, .rows = svd.rows, .cols = svd.cols, .squared_norm = svd.squared_norm()});
    }
    for (int c = 0; c < channels; ++c)
      spectra[std::size_t(c)].values = values[std::size_t(c)].data();
    const double tolerance = std::pow(10, kMaxLossDb / 10);
    const auto total_rank = [&](compute::RankRule rule, double factor) {
      rule.limit *= factor;
      std::vector<int> chosen(spectra.size());
      choose_ranks(rule, spectra.data(), channels, chosen.data());
      return std::accumulate(chosen.begin(), chosen.end(), 0);
    };
    for (std::size_t i = 0; i < policies.size(); ++i) {
      SCOPED_TRACE(to_string(policies[i]));
      const auto rule =
          compute::make_rank_rule(resolve(policies[i], image.shape()), image.shape(), task.peak);
      const bool is_fixed = rule.kind == compute::RankRule::Kind::rank;
      const std::vector<int> chosen = ranks(task, i);
      const int total = std::accumulate(chosen.begin(), chosen.end(), 0);
      EXPECT_GE(total, total_rank(rule, is_fixed ? 1 : tolerance));
      EXPECT_LE(total, total_rank(rule, is_fixed ? 1 : 1 / tolerance));
      double squared_error = 0;
      for (int c = 0; c < channels; ++c) {
        const compute::PlaneResult& result = task.results[i][std::size_t(c)];
        const std::vector<double>& squares = values[std::size_t(c)];
        const double optimum = std::accumulate(squares.begin() + result.rank, squares.end(), 0.0);
        if (result.squared_error > 0) {
          EXPECT_LE(loss_db(result.residual, optimum), kMaxLossDb);
        }
        const std::vector<int> in = samples(image, c), out = samples(task.outputs[i], c);
        double error = 0;
        for (std::size_t s = 0; s < in.size(); ++s) error += std::pow(in[s] - out[s], 2);
        EXPECT_EQ(result.squared_error, error);
        squared_error += error;
      }
      if (policies[i].kind == RankPolicy::Kind::psnr) {
        EXPECT_GE(psnr_db(squared_error, image.shape().samples(), int(task.peak)),
                  policies[i].value);
      }
      if (policies[i].kind == RankPolicy::Kind::rmse) {
        EXPECT_LE(std::sqrt(squared_error / double(image.shape().samples())), policies[i].value);
      }
    }
  }

  /// Expects the smallest ranks of these channels that keep `share` of their squared norm.
  static void expect_smallest_share(const Image& image, const compute::Task& task, int first,
                                    int count, double share) {
    double kept = 0, all = 0, smallest_kept = std::numeric_limits<double>::infinity();
    for (int c = first; c < first + count; ++c) {
      const ReferenceSvd svd = reference_svd(image, c);
      const int rank = ranks(task)[std::size_t(c)];
      all += svd.squared_norm();
      for (int i = 0; i < rank; ++i) kept += svd.sigma[std::size_t(i)] * svd.sigma[std::size_t(i)];
      if (rank > 1)
        smallest_kept = std::min(smallest_kept, std::pow(svd.sigma[std::size_t(rank - 1)], 2));
    }
    constexpr double kTolerance = 1e-6;
    EXPECT_GE(kept, (share - kTolerance) * all);
    EXPECT_LT(kept - smallest_kept, (share + kTolerance) * all);
  }

  void check(const Image& image, std::string_view specs) {
    SCOPED_TRACE(::testing::Message() << image.shape().rows << " x " << image.shape().cols << " x "
                                      << image.shape().channels);
    expect_chosen_ranks(image, reconstruct_by(image, specs), specs);
  }
};

INSTANTIATE_TEST_SUITE_P(All, RankChoiceTest, ::testing::ValuesIn(all_configs()), config_name);

TEST_P(RankChoiceTest, meets_targets_of_quality) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<int, int>>{{128, 128}, {160, 90}, {90, 160}, {37, 61}, {1, 9}}) {
    for (const synth::SynthKind kind : {synth::SynthKind::texture, synth::SynthKind::phantom}) {
      const Image image = make_image(kind, rows, cols);
      for (const char* spec : {"energy:0.9", "energy:0.999", "psnr:25", "psnr:35", "psnr:45",
                               "rmse:2", "rmse:10", "gd:sigma=3"})
        check(image, spec);
    }
  }
}

TEST_P(RankChoiceTest, meets_targets_of_color_images) {
  const Image image = make_image(synth::SynthKind::texture, 120, 100, 3);
  for (const char* spec : {"energy:0.99", "psnr:30", "rmse:4", "gd:sigma=4", "gd"})
    check(image, spec);
}

/// A GPU goes on with more columns where few do not suffice, and learns how many.
TEST_P(RankChoiceTest, meets_targets_of_images_that_need_different_ranks) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  for (const char* spec : {"psnr:32", "energy:0.98,psnr:28"}) {
    for (int round = 0; round < 3; ++round) {
      std::vector<compute::Task> tasks;
      for (const double share_of_noise : {0.0, 0.02, 0.3, 0.1, 0.0, 0.05}) {
        Image image = make_image(synth::SynthKind::texture, 192, 160);
        const Image noise = make_image(synth::SynthKind::noise, 192, 160);
        for (std::size_t i = 0; i < image.shape().samples(); ++i) {
          const double mixed = (1 - share_of_noise) * double(image.plane<std::uint8_t>(0).data[i]) +
                               share_of_noise * double(noise.plane<std::uint8_t>(0).data[i]);
          image.plane<std::uint8_t>(0).data[i] = std::uint8_t(mixed);
        }
        tasks.push_back(make_task(image, spec));
      }
      std::vector<compute::Task*> batch;
      for (compute::Task& task : tasks) batch.push_back(&task);
      lane->start(0, compute::batch_key(*batch.front(), 32), batch);
      lane->finish(0);
      for (const compute::Task& task : tasks) {
        EXPECT_EQ(task.error, "");
        expect_chosen_ranks(task.input, task, spec);
      }
    }
  }
}

TEST_P(RankChoiceTest, meets_targets_in_16_bits) {
  const Image image = make_image(synth::SynthKind::texture, 96, 128, 1, Depth::u16);
  for (const char* spec : {"energy:0.99", "psnr:40", "rmse:500", "gd:sigma=700"})
    check(image, spec);
}

TEST_P(RankChoiceTest, is_separate_for_chroma_with_a_rank_of_its_own) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Image image = make_image(synth::SynthKind::texture, 120, 100, 3, depth);
    const auto reconstruct_with = [&](std::string_view spec, const RankPolicy& chroma_rank) {
      std::vector<compute::Task> tasks;
      tasks.push_back(make_task(image, spec));
      tasks.front().chroma_rank = chroma_rank;
      reconstruct(tasks);
      return std::move(tasks.front());
    };
    constexpr auto kEnergy = RankPolicy::Kind::energy;
    EXPECT_EQ(ranks(reconstruct_with("20", 5)), (std::vector{20, 5, 5}));
    EXPECT_EQ(ranks(reconstruct_with("5", 20)), (std::vector{5, 20, 20}));
    const compute::Task energy_of_luma = reconstruct_with("energy:0.99", 3);
    expect_smallest_share(image, energy_of_luma, 0, 1, 0.99);
    EXPECT_EQ(ranks(energy_of_luma)[1], 3);
    expect_smallest_share(image, reconstruct_with("7", {kEnergy, 0.98}), 1, 2, 0.98);
    const compute::Task same = reconstruct_with("energy:0.98", {kEnergy, 0.98});
    expect_smallest_share(image, same, 0, 1, 0.98);
    expect_smallest_share(image, same, 1, 2, 0.98);
    for (int c = 0; c < 3; ++c) {
      const ReferenceSvd svd = reference_svd(image, c);
      const compute::PlaneResult& result = same.results[0][std::size_t(c)];
      double optimum = 0;
      for (std::size_t i = std::size_t(result.rank); i < svd.sigma.size(); ++i)
        optimum += svd.sigma[i] * svd.sigma[i];
      EXPECT_LE(loss_db(result.residual, optimum), kMaxLossDb);
    }
  }
}

/// A fixed rank above the number of values that a rank by quality needs at first.
TEST_P(RankChoiceTest, is_separate_for_chroma_with_a_large_fixed_rank) {
  const Image image = make_image(synth::SynthKind::texture, 256, 256, 3);
  const RankPolicy energy(RankPolicy::Kind::energy, 0.9);
  for (const bool is_luma_fixed : {false, true}) {
    std::vector<compute::Task> tasks;
    tasks.push_back(make_task(image, is_luma_fixed ? "150" : "energy:0.9"));
    tasks.front().chroma_rank = is_luma_fixed ? energy : RankPolicy(150);
    reconstruct(tasks);
    const std::vector<int> found = ranks(tasks.front());
    EXPECT_EQ(found[is_luma_fixed ? 0 : 1], 150);
    expect_smallest_share(image, tasks.front(), is_luma_fixed ? 1 : 0, is_luma_fixed ? 2 : 1, 0.9);
  }
}

TEST_P(RankChoiceTest, writes_several_outputs_from_one_decomposition) {
  check(make_image(synth::SynthKind::texture, 128, 96, 3),
        "psnr:40,3,energy:0.9,10%,rmse:8,gd:sigma=2,1");
  check(make_image(synth::SynthKind::texture, 128, 96), "gd,mp,20,psnr:30");
}

TEST_P(RankChoiceTest, finds_the_signal_in_noise) {
  const Image noise = make_image(synth::SynthKind::noise, 128, 96);
  check(noise, "gd,mp");
  // Noise of standard deviation 25 around a constant: one singular value of signal.
  EXPECT_EQ(ranks(reconstruct_by(noise, "gd:sigma=25")), std::vector{1});
  EXPECT_EQ(ranks(reconstruct_by(noise, "gd")), std::vector{1});
  EXPECT_LE(ranks(reconstruct_by(noise, "mp"))[0], 3);
}

TEST_P(RankChoiceTest, counts_the_components_above_the_noise) {
  constexpr int kComponents = 12;
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 50);
  std::bernoulli_distribution sign;
  Image image({128, 96, 1, Depth::u16});
  std::vector<double> sum(image.shape().samples(), 20000);
  for (int component = 1; component < kComponents; ++component) {  // the constant is the first
    std::vector<double> left(128), right(96);
    for (double& value : left) value = sign(random) ? 300 : -300;
    for (double& value : right) value = sign(random) ? 1 : -1;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += left[i / 96] * right[i % 96];
  }
  auto* samples = reinterpret_cast<std::uint16_t*>(image.data());
  for (std::size_t i = 0; i < sum.size(); ++i)
    samples[i] = std::uint16_t(std::lround(sum[i] + noise(random)));
  EXPECT_EQ(ranks(reconstruct_by(image, "gd")), std::vector{kComponents});
  EXPECT_EQ(ranks(reconstruct_by(image, "gd:sigma=50")), std::vector{kComponents});
  // The largest value of the noise may be above the edge of its distribution.
  const int above_noise = ranks(reconstruct_by(image, "mp"))[0];
  EXPECT_GE(above_noise, kComponents);
  EXPECT_LE(above_noise, kComponents + 1);
}

/// Values that the square of the matrix does not resolve.
TEST_P(RankChoiceTest, meets_targets_far_below_the_largest_value) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.4);
  Image image({300, 300, 1, Depth::u16});
  auto* samples = reinterpret_cast<std::uint16_t*>(image.data());
  for (std::size_t i = 0; i < image.shape().samples(); ++i)
    samples[i] = std::uint16_t(std::lround(60000 + noise(random)));
  const double count = double(image.shape().samples());
  EXPECT_LE(reconstruct_by(image, "rmse:0.1").results[0][0].squared_error, 0.01 * count);
  EXPECT_LE(reconstruct_by(image, "rmse:0.02").results[0][0].residual, 0.0004 * count);
}

TEST_P(RankChoiceTest, keeps_one_triplet_of_flat_images) {
  for (const synth::SynthKind kind : {synth::SynthKind::constant}) {
    const Image image = make_image(kind, 48, 80, 3);
    for (const char* spec :
         {"energy:0.5", "energy:1", "psnr:60", "rmse:0.1", "gd", "mp", "gd:sigma=1"}) {
      EXPECT_EQ(ranks(reconstruct_by(image, spec)), (std::vector{1, 1, 1})) << spec;
    }
  }
}

TEST_P(RankChoiceTest, gives_each_image_of_a_batch_its_own_ranks) {
  std::vector<Image> images;
  images.push_back(make_image(synth::SynthKind::texture, 96, 96));
  images.push_back(make_image(synth::SynthKind::constant, 96, 96));
  images.push_back(make_image(synth::SynthKind::noise, 96, 96));
  images.push_back(make_image(synth::SynthKind::phantom, 96, 96));
  for (const char* spec : {"psnr:32", "energy:0.97", "gd"}) {
    std::vector<compute::Task> tasks;
    for (const Image& image : images) tasks.push_back(make_task(image, spec));
    reconstruct(tasks);
    for (std::size_t i = 0; i < images.size(); ++i) expect_chosen_ranks(images[i], tasks[i], spec);
  }
}

}  // namespace
}  // namespace eckart::test
