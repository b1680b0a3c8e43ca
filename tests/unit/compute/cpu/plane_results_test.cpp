// Every figure of the result of a plane, from images whose singular values are known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compute/cpu/cpu_backend.hpp"
#include "compute/cpu/cpu_name.hpp"
#include "compute/cpu/factors.hpp"
#include "compute/cpu/image_decomposition.hpp"
#include "compute/cpu/plane_task.hpp"
#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A plane of zeros but for these samples on its diagonal: they are its singular values.
template <class T>
Image diagonal_image(int rows, int cols, const std::vector<std::vector<int>>& channels) {
  Image image({rows, cols, int(channels.size()),
               std::is_floating_point_v<T> ? Depth::f32 : Depth(sizeof(T))});
  std::memset(image.data(), 0, image.bytes());
  for (std::size_t c = 0; c < channels.size(); ++c) {
    for (int i = 0; i < int(channels[c].size()); ++i)
      image.plane<T>(int(c))(i, i) = T(channels[c][std::size_t(i)]);
  }
  return image;
}

Task task_of_image(Image image, const std::vector<RankPolicy>& ranks) {
  Task task;
  task.input = std::move(image);
  task.ranks = ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    task.outputs.emplace_back(task.input.shape());
    task.results.emplace_back(std::size_t(task.input.shape().channels));
  }
  return task;
}

void compute(Backend& backend, Task& task) {
  Task* const tasks[] = {&task};
  const auto lane = backend.make_lane(0);
  lane->start(0, batch_key(task, 1), tasks);
  lane->finish(0);
}

BackendOptions with_solver(SolverKind solver) {
  BackendOptions options;
  options.solver = solver;
  return options;
}

TEST(PlaneResult, has_every_figure_of_the_decomposition) {
  for (const SolverKind solver : {SolverKind::gram, SolverKind::gesvd, SolverKind::gesvdj}) {
    SCOPED_TRACE(to_string(solver));
    const auto backend = make_cpu_backend(with_solver(solver));
    for (const bool is_wide : {false, true}) {
      Task task = task_of_image(diagonal_image<std::uint16_t>(is_wide ? 5 : 7, is_wide ? 7 : 5,
                                                              {{300, 200, 100, 20, 10}}),
                                {{2}, {4}});
      compute(*backend, task);
      EXPECT_EQ(task.error, "");
      constexpr double kNorm = 9e4 + 4e4 + 1e4 + 400 + 100;
      const PlaneResult &two = task.results[0][0], &four = task.results[1][0];
      EXPECT_EQ(two.rank, 2);
      EXPECT_NEAR(two.energy, 13e4 / kNorm, 1e-9);
      EXPECT_EQ(two.squared_norm, kNorm);
      EXPECT_NEAR(two.residual, 10500, 1e-5);
      EXPECT_EQ(two.squared_error, 10500);
      EXPECT_NEAR(two.sigma1, 300, 1e-9);
      EXPECT_NEAR(two.sigma_threshold, 200, 1e-9);
      EXPECT_EQ(two.solver, solver);
      EXPECT_FALSE(two.is_recomputed);
      EXPECT_FALSE(two.is_from_factors);
      EXPECT_GE(two.loss_estimate_db, 0);
      EXPECT_LT(two.loss_estimate_db, 1e-6);
      EXPECT_GT(two.loss_bound_db, 0);
      EXPECT_LT(two.loss_bound_db, 1e-3);
      EXPECT_EQ(four.rank, 4);
      EXPECT_NEAR(four.sigma_threshold, 20, 1e-9);
      EXPECT_EQ(four.squared_error, 100);
      EXPECT_EQ(task.outputs[0].plane<std::uint16_t>(0)(1, 1), 200);
      EXPECT_EQ(task.outputs[0].plane<std::uint16_t>(0)(2, 2), 0);
      EXPECT_EQ(task.outputs[1].plane<std::uint16_t>(0)(3, 3), 20);
    }
  }
}

TEST(PlaneResult, has_no_loss_if_every_sample_is_that_of_the_input) {
  const auto backend = make_cpu_backend({});
  Task task = task_of_image(diagonal_image<std::uint8_t>(6, 6, {{250, 3}}), {{2}});
  compute(*backend, task);
  EXPECT_EQ(task.results[0][0].squared_error, 0);
  EXPECT_EQ(task.results[0][0].loss_estimate_db, 0);
  EXPECT_EQ(task.results[0][0].loss_bound_db, 0);
}

TEST(PlaneResult, has_the_levels_of_float_samples) {
  const auto backend = make_cpu_backend(with_solver(SolverKind::gram));
  Image image = diagonal_image<float>(6, 5, {{3, 2, 1}});
  for (int i = 0; i < 3; ++i) image.plane<float>(0)(i, i) *= 0x1p-10F;
  Task task = task_of_image(std::move(image), {{1}});
  task.wants_spectrum = true;
  task.min_factor_rank = 2;
  compute(*backend, task);
  const PlaneResult& result = task.results[0][0];
  EXPECT_NEAR(result.squared_norm, 14 * 0x1p-20, 1e-15);
  EXPECT_NEAR(result.residual, 5 * 0x1p-20, 1e-15);
  EXPECT_NEAR(result.squared_error, 5 * 0x1p-20, 1e-15);
  EXPECT_NEAR(result.sigma1, 3 * 0x1p-10, 1e-12);
  EXPECT_NEAR(result.sigma_threshold, 3 * 0x1p-10, 1e-12);
  ASSERT_EQ(task.spectra.size(), 1u);
  EXPECT_THAT(task.spectra[0], ElementsAre(testing::DoubleNear(3 * 0x1p-10, 1e-12),
                                           testing::DoubleNear(2 * 0x1p-10, 1e-12),
                                           testing::DoubleNear(0x1p-10, 1e-12), 0, 0));
  ASSERT_EQ(task.factors.size(), 1u);
  EXPECT_EQ(task.factors[0].rows, 6);
  EXPECT_EQ(task.factors[0].cols, 5);
  ASSERT_EQ(task.factors[0].rank(), 2);
  EXPECT_NEAR(task.factors[0].s[1], 2 * 0x1p-10, 1e-12);
  EXPECT_NEAR(task.factors[0].squared_norm, 14 * 0x1p-20, 1e-15);
}

/// The product of left and right is A, 3 x 2, or its transpose.
TEST(SetFactors, gives_unit_vectors_in_the_order_of_the_plane) {
  const std::vector<double> left{8, 0, 0, 0, 3, 4, 0, 0, 0}, right{0, 1, 1, 0, 0, 0};
  for (const bool is_tall : {true, false}) {
    Factors factors{.rows = is_tall ? 3 : 2, .cols = is_tall ? 2 : 3};
    set_factors(left.data(), right.data(), 3, 2, 89 * 4, factors);
    EXPECT_THAT(factors.s, ElementsAre(4, 2.5, 0));
    EXPECT_EQ(factors.squared_norm, 89);
    if (is_tall) {
      EXPECT_THAT(factors.u, ElementsAre(1, 0, 0, 0, 0.6F, 0, 0, 0.8F, 0));
      EXPECT_THAT(factors.vt, ElementsAre(0, 1, 1, 0, 0, 0));
    } else {
      EXPECT_THAT(factors.u, ElementsAre(0, 1, 0, 1, 0, 0));
      EXPECT_THAT(factors.vt, ElementsAre(1, 0, 0, 0, 0.6F, 0.8F, 0, 0, 0));
    }
  }
}

/// Factors of diagonal_image(): unit vectors.
Factors diagonal_factors(int rows, int cols, const std::vector<int>& values, double squared_norm) {
  Factors factors{.rows = rows, .cols = cols, .squared_norm = squared_norm};
  const std::size_t rank = values.size();
  factors.u.resize(std::size_t(rows) * rank);
  factors.vt.resize(rank * std::size_t(cols));
  for (std::size_t i = 0; i < rank; ++i) {
    factors.s.push_back(values[i]);
    factors.u[i * rank + i] = 1;
    factors.vt[i * std::size_t(cols) + i] = 1;
  }
  return factors;
}

TEST(KnownFactor, gives_outputs_without_samples) {
  Task task = task_of_image(diagonal_image<std::uint8_t>(6, 5, {{}, {}, {}}), {{1}, {2}});
  task.known_factors = {diagonal_factors(6, 5, {300, 100, 2}, 100005),
                        diagonal_factors(6, 5, {20, 10}, 500),
                        diagonal_factors(6, 5, {9, 8, 7, 6}, 0)};
  task.min_factor_rank = 0;
  ASSERT_TRUE(reconstruct_from_factors(task));
  const PlaneResult& red = task.results[1][0];
  EXPECT_EQ(red.rank, 2);
  EXPECT_EQ(red.energy, 1e5 / 100005);
  EXPECT_EQ(red.squared_norm, 100005);
  EXPECT_EQ(red.residual, 5);
  EXPECT_TRUE(std::isnan(red.squared_error));
  EXPECT_EQ(red.loss_estimate_db, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(red.loss_bound_db));
  EXPECT_TRUE(red.is_from_factors);
  EXPECT_FALSE(red.is_recomputed);
  EXPECT_EQ(red.sigma1, 300);
  EXPECT_EQ(red.sigma_threshold, 100);
  EXPECT_EQ(red.solver, std::nullopt);
  EXPECT_EQ(task.results[0][1].sigma_threshold, 20);
  EXPECT_EQ(task.results[1][1].residual, 0) << "not negative";
  EXPECT_EQ(task.results[0][2].energy, 1) << "nothing to keep";
  EXPECT_EQ(task.outputs[1].plane<std::uint8_t>(0)(0, 0), 255) << "clamped";
  EXPECT_EQ(task.outputs[1].plane<std::uint8_t>(0)(1, 1), 100);
  EXPECT_EQ(task.outputs[0].plane<std::uint8_t>(0)(1, 1), 0);
  EXPECT_EQ(task.outputs[1].plane<std::uint8_t>(1)(1, 1), 10);
  EXPECT_EQ(task.outputs[1].plane<std::uint8_t>(2)(1, 1), 8);
  ASSERT_EQ(task.factors.size(), 3u) << "those of the largest rank";
  EXPECT_THAT(task.factors[0].s, ElementsAre(300, 100));
  EXPECT_EQ(task.factors[0].u, diagonal_factors(6, 5, {300, 100}, 0).u);
  EXPECT_EQ(task.factors[0].vt, diagonal_factors(6, 5, {300, 100}, 0).vt);
  EXPECT_EQ(task.factors[0].squared_norm, 100005);
  EXPECT_THAT(task.factors[2].s, ElementsAre(9, 8));

  task.ranks = {{1}, {3}};
  try {
    reconstruct_from_factors(task);
    ADD_FAILURE();
  } catch (const ItemError& error) {
    EXPECT_EQ(error.reason(), FailureReason::unsupported);
    EXPECT_STREQ(error.what(), "a rank needs more singular values than the file has: 3, 2, 4 of 5");
  }
  const auto backend = make_cpu_backend({});
  compute(*backend, task);
  EXPECT_EQ(task.reason, FailureReason::unsupported);
  EXPECT_THAT(task.error, HasSubstr("3, 2, 4 of 5"));
}

TEST(KnownFactor, is_measured_against_known_samples) {
  const auto task_with = [](const std::vector<int>& samples, double squared_norm) {
    Task task = task_of_image(diagonal_image<std::uint16_t>(6, 5, {samples}), {{2}});
    task.known_factors = {diagonal_factors(6, 5, {300, 100, 20}, squared_norm)};
    task.known_loss_db = 0;
    return task;
  };
  constexpr double kNorm = 9e4 + 1e4 + 400 + 100;
  Task task = task_with({300, 100, 20, 10}, kNorm);
  ASSERT_TRUE(reconstruct_from_factors(task));
  EXPECT_NEAR(task.results[0][0].residual, 500, 1e-9);
  EXPECT_EQ(task.results[0][0].squared_error, 500);
  EXPECT_LT(task.results[0][0].loss_estimate_db, 1e-3);
  task = task_with({300, 100, 20, 10}, kNorm);
  task.known_loss_db = 1;  // of what all three triplets leave: 100
  ASSERT_FALSE(reconstruct_from_factors(task)) << "the loss may be 0.19 dB";
  EXPECT_NEAR(task.results[0][0].loss_estimate_db,
              -10 * std::log10(1 - 100 * (1 - std::pow(10, -0.1)) / 500), 1e-3);
  task = task_with({300, 100, 20, 10}, kNorm + 1);
  EXPECT_FALSE(reconstruct_from_factors(task)) << "of another norm";
  task = task_with({300, 100, 10, 20}, kNorm);
  EXPECT_TRUE(reconstruct_from_factors(task)) << "only what is left differs";
  task = task_with({300, 99, 20, 10}, kNorm - 199);
  EXPECT_FALSE(reconstruct_from_factors(task)) << "of another image";
  task = task_with({300, 100, 20, 10}, kNorm);
  task.ranks = {{4}};
  EXPECT_FALSE(reconstruct_from_factors(task)) << "too few";
}

TEST(ImageDecomposition, gives_spectra_and_reconstructions_at_any_ranks) {
  const Image image =
      diagonal_image<std::uint8_t>(5, 8, {{200, 100, 50, 10}, {90, 80, 70, 60, 50}, {7}});
  ImageDecomposition decomposition(image);
  EXPECT_EQ(decomposition.shape(), image.shape());
  const std::vector<PlaneSpectrum> spectra = decomposition.spectra();
  ASSERT_EQ(spectra.size(), 3u);
  EXPECT_EQ(spectra[0].squared_norm, 52600);
  EXPECT_NEAR(spectra[0][2], 2500, 1e-6);
  EXPECT_NEAR(spectra[1][4], 2500, 1e-6);
  EXPECT_TRUE(spectra[2].is_complete());
  EXPECT_EQ(spectra[0].full_rank(), 5);
  const std::vector<int> largest{5, 5, 5};
  decomposition.compute_vectors(largest);
  Image rounded(image.shape());
  const auto error = [&](std::vector<int> ranks) {
    return decomposition.reconstruct(ranks, rounded);
  };
  EXPECT_NEAR(error({2, 4, 1}), 2600 + 2500, 1e-6);
  EXPECT_EQ(rounded.plane<std::uint8_t>(0)(1, 1), 100);
  EXPECT_EQ(rounded.plane<std::uint8_t>(0)(2, 2), 0);
  EXPECT_EQ(rounded.plane<std::uint8_t>(1)(3, 3), 60);
  EXPECT_EQ(rounded.plane<std::uint8_t>(1)(4, 4), 0);
  EXPECT_EQ(rounded.plane<std::uint8_t>(2)(0, 0), 7);
  EXPECT_NEAR(error({3, 1, 1}), 100 + 6400 + 4900 + 3600 + 2500, 1e-6) << "up and down";
  EXPECT_EQ(rounded.plane<std::uint8_t>(1)(1, 1), 0);
  EXPECT_EQ(error({5, 5, 5}), 0) << "rounding counts as nothing";
  EXPECT_EQ(std::memcmp(rounded.data(), image.data(), image.bytes()), 0);
}

TEST(CpuBackend, describes_itself) {
  BackendOptions options;
  options.lanes = 1;
  EXPECT_EQ(make_cpu_backend(options)->description(),
            "1 lane, auto in float32 if certified, otherwise in float64 (OpenBLAS)");
  options.certificate = Certificate::bound;
  options.solver = SolverKind::subspace;
  EXPECT_EQ(make_cpu_backend(options)->description(),
            "1 lane, subspace in float32 if proven, otherwise in float64 (OpenBLAS)");
  options.solver = SolverKind::gesvd;
  options.lanes = 2;
  const auto backend = make_cpu_backend(options);
  EXPECT_EQ(backend->description(), (backend->lanes() == 2 ? "2 lanes" : "1 lane") +
                                        std::string(", gesvd in float64 (OpenBLAS)"));
  EXPECT_EQ(backend->name(), "cpu");
  EXPECT_EQ(backend->device_name(), cpu_name());
  EXPECT_EQ(backend->batch_planes({{64, 32}, {}}), 1);
  ASSERT_EQ(backend->details().size(), 2u);
  EXPECT_THAT(backend->details()[0], testing::StartsWith(cpu_name() + ", OpenBLAS"));
  EXPECT_THAT(backend->details()[1], HasSubstr("solver costs: built-in"));
}

TEST(PlaneTask, orders_outputs_by_descending_rank) {
  PlaneTask<std::uint8_t> plane{{}, 255, {{3, {}, nullptr}, {9, {}, nullptr}, {5, {}, nullptr}}};
  std::vector<int> ranks;
  for (const auto* output : plane.outputs_by_descending_rank()) ranks.push_back(output->rank);
  EXPECT_THAT(ranks, ElementsAre(9, 5, 3));
  EXPECT_EQ(plane.max_rank(), 9);
  plane.min_factor_rank = 12;
  EXPECT_EQ(plane.max_rank(), 12);
}

}  // namespace
}  // namespace eckart::compute::cpu
