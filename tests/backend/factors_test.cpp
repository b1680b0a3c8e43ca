// The singular triplets that every backend and solver gives, and the way back from them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/quality.hpp"
#include "tests/backend/optimality.hpp"

namespace eckart::test {
namespace {

class FactorsTest : public BackendTest {
 protected:
  void compute(compute::Task& task) { compute(std::vector{&task}); }
  /// Computes one batch.
  void compute(const std::vector<compute::Task*>& tasks) {
    const compute::Task& task = *tasks.front();
    const bool is_on_gpu =
        GetParam().backend == settings::BackendChoice::cuda && task.known_factors.empty();
    const int gpu_images = is_on_gpu ? int(tasks.size()) : 0;
    const auto backend = make();
    const auto lane = backend->make_lane(0);
    lane->start(0, compute::batch_key(task, 32), tasks);
    lane->finish(0);
    EXPECT_EQ(backend->fallback_counts().gpu_images, gpu_images);
  }
  /// `min_rank`: Task::min_factor_rank.
  compute::Task compute_factors(const Image& image, std::string_view specs, int min_rank = 0) {
    compute::Task task = make_factors_task(image, specs, min_rank);
    compute(task);
    return task;
  }
  static compute::Task make_factors_task(const Image& image, std::string_view specs,
                                         int min_rank = 0) {
    compute::Task task = make_task(image, {});
    task.peak = is_float(image.shape().depth) ? 1 : peak(image.shape().depth);
    task.min_factor_rank = min_rank;
    add_outputs(task, specs);
    return task;
  }
  /// Makes outputs of the factors of another task. `known_loss_db`: Task::known_loss_db.
  compute::Task reconstruct_from(const compute::Task& source, std::string_view specs,
                                 std::optional<double> known_loss_db = {},
                                 std::optional<int> min_rank = {}) {
    compute::Task task = make_task(source.input, {});
    task.known_factors = source.factors;
    task.known_loss_db = known_loss_db;
    task.min_factor_rank = min_rank;
    task.peak = source.peak;
    add_outputs(task, specs);
    compute(task);
    return task;
  }

  static double entry(const Factors& f, int rank, int row, int col) {
    double sum = 0;
    for (int i = 0; i < rank; ++i)
      sum += f.s[std::size_t(i)] * double(f.u[std::size_t(row * f.rank() + i)]) *
             double(f.vt[std::size_t(i * f.cols + col)]);
    return sum;
  }
  static double level(const Image& image, int row, int col, int channel) {
    return with_sample_type(image.shape().depth,
                            [&]<class T>(T*) { return double(image.plane<T>(channel)(row, col)); });
  }
  static double squared_norm(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum;
  }
  static void expect_orthonormal(const Factors& f, double tolerance) {
    for (int i = 0; i < f.rank(); ++i) {
      for (int j = 0; j <= i; ++j) {
        double u = 0, v = 0;
        for (int row = 0; row < f.rows; ++row)
          u += double(f.u[std::size_t(row * f.rank() + i)]) *
               double(f.u[std::size_t(row * f.rank() + j)]);
        for (int col = 0; col < f.cols; ++col)
          v += double(f.vt[std::size_t(i * f.cols + col)]) *
               double(f.vt[std::size_t(j * f.cols + col)]);
        EXPECT_NEAR(u, i == j, tolerance) << i << " " << j;
        EXPECT_NEAR(v, i == j, tolerance) << i << " " << j;
      }
    }
  }
  /// The largest difference of the samples of an output and U diag(s) V', both clamped.
  static double difference(const compute::Task& task, std::size_t output) {
    double largest = 0;
    const ImageShape& shape = task.input.shape();
    for (int c = 0; c < shape.channels; ++c) {
      const int rank = task.results[output][std::size_t(c)].rank;
      for (int row = 0; row < shape.rows; ++row) {
        for (int col = 0; col < shape.cols; ++col) {
          const double value = std::clamp(entry(task.factors[std::size_t(c)], rank, row, col), 0.0,
                                          double(peak(shape.depth)));
          largest = std::max(largest, std::abs(value - level(task.outputs[output], row, col, c)));
        }
      }
    }
    return largest;
  }

 private:
  static void add_outputs(compute::Task& task, std::string_view specs) {
    if (specs.empty()) return;
    for (const RankPolicy& policy : parse_ranks(specs)) {
      const bool is_all_known =
          policy.kind == RankPolicy::Kind::full && !task.known_factors.empty();
      task.ranks.push_back(is_all_known ? policy : resolve(policy, task.input.shape()));
      task.outputs.emplace_back(task.input.shape());
      task.results.emplace_back(std::size_t(task.input.shape().channels));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, FactorsTest, ::testing::ValuesIn(all_configs()), config_name);

TEST_P(FactorsTest, gives_the_outputs_when_multiplied) {
  for (const char* specs : {"3,12", "psnr:30,energy:0.9"}) {
    for (const Image& image : {make_image(synth::SynthKind::texture, 72, 50, 3),
                               make_image(synth::SynthKind::texture, 50, 72, 3),
                               make_image(synth::SynthKind::phantom, 40, 64, 1, Depth::u16)}) {
      const compute::Task task = compute_factors(image, specs);
      ASSERT_EQ(task.error, "");
      ASSERT_EQ(int(task.factors.size()), image.shape().channels);
      for (std::size_t c = 0; c < task.factors.size(); ++c) {
        const Factors& factors = task.factors[c];
        EXPECT_EQ(factors.rank(), std::max(task.results[0][c].rank, task.results[1][c].rank));
        EXPECT_EQ(factors.rows, image.shape().rows);
        EXPECT_EQ(factors.u.size(), std::size_t(factors.rows * factors.rank()));
        EXPECT_EQ(factors.vt.size(), std::size_t(factors.rank() * factors.cols));
        EXPECT_NEAR(factors.s[0], task.results[0][c].sigma1, 1e-4 * factors.s[0]);
      }
      for (const std::size_t output : {0U, 1U}) EXPECT_LE(difference(task, output), 0.55);
    }
  }
}

/// Planes of a batch differ in size, and some may be computed by another solver.
TEST_P(FactorsTest, belongs_to_each_image_of_a_batch) {
  for (const char* specs : {"3,12", "energy:0.99"}) {
    std::vector<compute::Task> tasks;
    for (const auto& [rows, cols] : {std::pair(130, 100), std::pair(101, 160), std::pair(97, 129)})
      for (const auto kind : {synth::SynthKind::texture, synth::SynthKind::phantom})
        tasks.push_back(make_factors_task(make_image(kind, rows, cols, 3), specs));
    std::vector<compute::Task*> batch;
    for (compute::Task& task : tasks) batch.push_back(&task);
    compute(batch);
    for (const compute::Task& task : tasks) {
      ASSERT_EQ(task.error, "");
      ASSERT_EQ(task.factors.size(), 3U);
      for (std::size_t output = 0; output < task.outputs.size(); ++output)
        EXPECT_LE(difference(task, output), 0.55) << task.input.shape().rows;
    }
  }
}

/// Textures have singular values that decay as slowly as those of photographs. Subspace iteration
/// has fewer columns than A.
TEST_P(FactorsTest, is_the_float64_decomposition) {
  constexpr int kRank = 40;
  const bool is_in_float64 =
      GetParam().is_exact() || GetParam().backend == settings::BackendChoice::cpu;
  const double value_tolerance = is_in_float64 ? 1e-6 : 1e-4;
  const Image deep = make_image(synth::SynthKind::texture, 160, 200, 1, Depth::u16);
  Image floats({160, 200, 1, Depth::f32});
  for (std::size_t i = 0; i < floats.shape().samples(); ++i)
    reinterpret_cast<float*>(floats.data())[i] =
        float(reinterpret_cast<const std::uint16_t*>(deep.data())[i]) / 65535 - 0.2F;
  for (const Image& image : {make_image(synth::SynthKind::texture, 200, 160, 3), copy(deep),
                             copy(floats), make_image(synth::SynthKind::noise, 160, 170)}) {
    const compute::Task task = compute_factors(image, std::to_string(kRank));
    ASSERT_EQ(task.error, "");
    for (int c = 0; c < image.shape().channels; ++c) {
      const ReferenceSvd reference = reference_svd(image, c);
      const Factors& f = task.factors[std::size_t(c)];
      ASSERT_EQ(f.rank(), kRank);
      EXPECT_NEAR(f.squared_norm, reference.squared_norm(), 1e-9 * reference.squared_norm());
      for (std::size_t i = 0; i < std::size_t(kRank); ++i)
        EXPECT_NEAR(f.s[i], reference.sigma[i], value_tolerance * reference.sigma[i]) << i;
      double error = 0, optimum = 0;
      for (int row = 0; row < f.rows; ++row)
        for (int col = 0; col < f.cols; ++col)
          error +=
              std::pow(entry(f, kRank, row, col) - reference.a[std::size_t(row * f.cols + col)], 2);
      for (std::size_t i = kRank; i < reference.sigma.size(); ++i)
        optimum += reference.sigma[i] * reference.sigma[i];
      EXPECT_LE(error, optimum * std::pow(10, kMaxLossDb / 10));
      EXPECT_NEAR(error, f.squared_norm - squared_norm(f.s), 1e-3 * error);
      expect_orthonormal(f, 1e-5);
    }
  }
}

TEST_P(FactorsTest, has_orthonormal_vectors) {
  const Image image = make_image(synth::SynthKind::texture, 48, 64);
  expect_orthonormal(compute_factors(image, "10").factors[0], 1e-5);
}

TEST_P(FactorsTest, is_complete_if_that_is_wanted) {
  const Image image = make_image(synth::SynthKind::texture, 40, 32);
  for (const char* specs : {"5", ""}) {
    const compute::Task task = compute_factors(image, specs, 32);
    const Factors& factors = task.factors.at(0);
    ASSERT_EQ(factors.rank(), 32);
    for (int row = 0; row < 40; ++row)
      for (int col = 0; col < 32; ++col)
        ASSERT_NEAR(entry(factors, 32, row, col), level(image, row, col, 0), 1e-2);
  }
}

TEST_P(FactorsTest, is_complete_beside_a_chroma_rank) {
  const Image image = make_image(synth::SynthKind::texture, 40, 52, 3);
  for (const char* specs : {"5", ""}) {
    compute::Task task = make_factors_task(image, specs, 40);
    task.chroma_rank = RankPolicy(3);
    compute(task);
    ASSERT_EQ(task.error, "");
    for (int c = 0; c < 3; ++c) {
      ASSERT_EQ(task.factors.at(std::size_t(c)).rank(), 40);
      EXPECT_NEAR(entry(task.factors[std::size_t(c)], 40, 7, 9), level(image, 7, 9, c), 1e-2);
    }
    if (!task.outputs.empty()) {
      EXPECT_EQ(task.results[0][1].rank, 3);
      EXPECT_LE(difference(task, 0), 0.55);
    }
  }
}

TEST_P(FactorsTest, is_zero_for_a_black_image) {
  Image black({20, 30, 1, Depth::u8});
  std::fill_n(black.data(), black.bytes(), std::byte(0));
  const compute::Task task = compute_factors(black, "2");
  ASSERT_EQ(task.factors.at(0).rank(), 2);
  EXPECT_EQ(difference(task, 0), 0);
}

TEST_P(FactorsTest, gives_lower_ranks_without_the_image) {
  for (const Image& image : {make_image(synth::SynthKind::texture, 72, 50, 3),
                             make_image(synth::SynthKind::phantom, 40, 64, 1, Depth::u16)}) {
    const compute::Task source = compute_factors(image, "4,12,rmse:6"),
                        task = reconstruct_from(source, "4,full,rmse:6");
    ASSERT_EQ(task.error, "");
    for (const auto& [output, source_output] :
         {std::pair(0, 0), std::pair(1, 1), std::pair(2, 2)}) {
      for (std::size_t c = 0; c < task.factors.size(); ++c) {
        const compute::PlaneResult &result = task.results[std::size_t(output)][c],
                                   &known = source.results[std::size_t(source_output)][c];
        EXPECT_EQ(result.rank, known.rank);
        EXPECT_NEAR(result.energy, known.energy, 1e-6);
        EXPECT_NEAR(result.residual, known.residual, 1e-3 * known.residual + 1);
        EXPECT_TRUE(std::isnan(result.squared_error));
        EXPECT_FALSE(result.is_certified(Certificate::estimate));
      }
    }
    const ImageShape& shape = image.shape();
    for (int row = 0; row < shape.rows; ++row)
      for (int col = 0; col < shape.cols; ++col)
        ASSERT_NEAR(level(task.outputs[0], row, col, 0), level(source.outputs[0], row, col, 0), 1);
  }
}

TEST_P(FactorsTest, keeps_the_most_triplets_of_several_ranks) {
  const compute::Task source = compute_factors(make_image(synth::SynthKind::texture, 40, 32), "12"),
                      task = reconstruct_from(source, "9,4", {}, 0);
  ASSERT_EQ(task.error, "");
  ASSERT_EQ(task.factors.at(0).rank(), 9);
  EXPECT_LE(difference(task, 0), 0.55);
}

/// 16 bits above about 75 dB need more than float32.
TEST_P(FactorsTest, measures_lower_ranks_if_the_image_is_known) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const bool is_u8 = depth == Depth::u8;
    const Image image = make_image(synth::SynthKind::texture, 72, 50, is_u8 ? 3 : 1, depth);
    const char* const specs = is_u8 ? "4,rmse:6,12" : "4,rmse:1500,12";
    const compute::Task full = compute_factors(image, specs),
                        task = reconstruct_from(compute_factors(image, "35"), specs, 0.001);
    ASSERT_EQ(task.error, "");
    EXPECT_FALSE(task.known_factors.empty());
    EXPECT_GT(task.results[0][0].loss_estimate_db, 0);
    for (std::size_t i = 0; i < task.results.size(); ++i) {
      for (std::size_t c = 0; c < task.results[i].size(); ++c) {
        const compute::PlaneResult &result = task.results[i][c], &expected = full.results[i][c];
        EXPECT_TRUE(result.is_from_factors);
        EXPECT_EQ(result.rank, expected.rank);
        EXPECT_NEAR(result.residual, expected.residual, 1e-4 * expected.residual);
        EXPECT_NEAR(result.squared_error, expected.squared_error, 1e-3 * expected.squared_error);
        EXPECT_TRUE(result.is_certified(Certificate::estimate));
      }
    }
  }
}

TEST_P(FactorsTest, decomposes_a_known_image_if_the_factors_do_not_suffice) {
  const compute::Task source = compute_factors(make_image(synth::SynthKind::texture, 40, 32), "5");
  const auto expect_decomposed = [&](const compute::Task& from, const char* specs, double loss_db) {
    const compute::Task task = reconstruct_from(from, specs, loss_db);
    EXPECT_EQ(task.error, "") << specs;
    EXPECT_TRUE(task.known_factors.empty()) << specs;
    EXPECT_FALSE(task.results[0][0].is_from_factors) << specs;
    EXPECT_TRUE(task.results[0][0].is_certified(Certificate::estimate)) << specs;
  };
  for (const char* specs : {"6", "energy:0.99999", "gd", "rmse:0.01"})
    expect_decomposed(source, specs, 0);
  expect_decomposed(source, "5", 0.1);  // an uncertified loss
  compute::Task other = compute_factors(make_image(synth::SynthKind::phantom, 40, 32), "5");
  other.input = copy(source.input);
  expect_decomposed(other, "5", 0);  // factors of another image
  compute::Task changed = compute_factors(make_image(synth::SynthKind::texture, 40, 32), "5");
  for (Factors& factors : changed.factors) factors.s[2] *= 0.9;
  expect_decomposed(changed, "5", 0);
}

TEST_P(FactorsTest, refuses_ranks_above_those_kept) {
  const compute::Task source = compute_factors(make_image(synth::SynthKind::texture, 40, 32), "5");
  for (const char* specs : {"6", "3,energy:0.99999", "gd", "mp", "rmse:0.01"}) {
    const compute::Task task = reconstruct_from(source, specs);
    EXPECT_NE(task.error.find("needs more singular values than the file has: 5 of 32"),
              std::string::npos)
        << specs << ": " << task.error;
    EXPECT_EQ(task.reason, FailureReason::unsupported);
  }
}

}  // namespace
}  // namespace eckart::test
