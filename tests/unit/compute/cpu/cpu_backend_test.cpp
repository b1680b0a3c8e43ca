#include "compute/cpu/cpu_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "compute/evict_if_full.hpp"
#include "core/rank_spec.hpp"
#include "synth/synth.hpp"

namespace eckart::compute::cpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::vector<RankPolicy> kTen{{10}};

/// Computes images of these sizes and returns the backend's choices.
std::vector<SolverChoice> solver_choices(Backend& backend,
                                         const std::vector<std::pair<int, int>>& sizes,
                                         const std::vector<RankPolicy>& ranks = kTen) {
  const auto lane = backend.make_lane(0);
  for (const auto& [rows, cols] : sizes) {
    Task task;
    task.input = synth::synthesize(
        {.kind = synth::SynthKind::texture, .rows = rows, .cols = cols, .channels = 1});
    task.ranks = ranks;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      task.outputs.emplace_back(task.input.shape());
      task.results.emplace_back(1);
    }
    Task* const tasks[] = {&task};
    lane->start(0, batch_key(task, 32), tasks);
    lane->finish(0);
  }
  return backend.solver_choices();
}

/// "RANK SOLVER" of each choice for one image.
std::vector<std::string> ranks_and_solvers(const std::string& specs) {
  const auto backend = make_cpu_backend({});
  std::vector<RankPolicy> ranks;
  for (const RankPolicy& policy : parse_ranks(specs)) ranks.push_back(policy);
  std::vector<std::string> texts;
  for (const SolverChoice& choice : solver_choices(*backend, {{256, 256}}, ranks))
    texts.push_back(std::to_string(choice.batch.rank) + ' ' + to_string(choice.solver));
  return texts;
}

BackendOptions options(const Calibration& calibration) {
  BackendOptions options;
  options.calibration = calibration;
  return options;
}

TEST(CpuBackend, reports_only_the_final_rank_of_an_image_that_chooses_its_own) {
  EXPECT_THAT(ranks_and_solvers("20"), ElementsAre("20 subspace"));
  EXPECT_THAT(ranks_and_solvers("psnr:26"), ElementsAre(EndsWith(" subspace")));
  EXPECT_THAT(ranks_and_solvers("gd"), ElementsAre(EndsWith(" gram")));
}

TEST(CpuBackend, reports_the_solver_of_every_shape) {
  const auto backend = make_cpu_backend({});
  EXPECT_TRUE(backend->solver_choices().empty());
  const auto all = solver_choices(*backend, {{90, 100}, {100, 90}, {20, 30}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].batch.shape, (PaddedShape{30, 20}));
  EXPECT_EQ(all[1].solver, SolverKind::gram);
  EXPECT_EQ(all[0].batch.shape, (PaddedShape{100, 90}));
  EXPECT_EQ(all[0].batch.rank, 10);
  EXPECT_EQ(all[0].batch.planes, 1);
  EXPECT_EQ(all[0].solver, SolverKind::subspace);
  EXPECT_THAT(all[0].explanation, HasSubstr("32 of 90 columns"));
}

TEST(CpuBackend, chooses_a_solver_for_every_max_rank) {
  const auto backend = make_cpu_backend({});
  solver_choices(*backend, {{100, 90}}, {{80}, {3}});
  const auto all = solver_choices(*backend, {{100, 90}}, {{3}, {10}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].batch.rank, 80);
  EXPECT_EQ(all[0].solver, SolverKind::gram);
  EXPECT_EQ(all[1].batch.rank, 10);
  EXPECT_EQ(all[1].solver, SolverKind::subspace);
}

TEST(CpuBackend, handles_more_shapes_than_it_caches) {
  std::vector<std::pair<int, int>> sizes;
  for (int rows = 1; rows <= 50; ++rows) {
    for (int cols = 1; cols <= rows; ++cols) sizes.emplace_back(rows, cols);
  }
  ASSERT_GT(sizes.size(), kMaxCacheEntries);
  const auto backend = make_cpu_backend({});
  const auto all = solver_choices(*backend, sizes);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].batch.shape, (PaddedShape{50, 50}));
}

TEST(CpuBackend, cancels_the_remaining_planes_after_a_stop_request) {
  const auto backend = make_cpu_backend({});
  const auto lane = backend->make_lane(0);
  const std::vector<RankPolicy> by_quality{{RankPolicy::Kind::energy, 1}};
  for (int i = 0; i < 4; ++i) {
    const bool stopped = i % 2 == 1;
    const std::vector<RankPolicy>& ranks = i < 2 ? kTen : by_quality;
    std::stop_source stop;
    lane->set_stop_token(stop.get_token());
    if (stopped) stop.request_stop();
    Task task;
    task.input = Image(ImageShape{30, 20, 3, Depth::u8});
    std::fill_n(task.input.data(), task.input.bytes(), std::byte{7});
    task.ranks = ranks;
    task.outputs.emplace_back(task.input.shape());
    task.results.emplace_back(3);
    Task* const tasks[] = {&task};
    lane->start(0, batch_key(task, 1), tasks);
    lane->finish(0);
    EXPECT_EQ(task.is_canceled, stopped);
    EXPECT_EQ(task.results[0][0].rank > 0, !stopped);
    EXPECT_EQ(task.error, "");
  }
}

/// Computes a gray image at kTen.
Task compute_alone(Backend& backend, Image input) {
  Task task;
  task.input = std::move(input);
  task.ranks = kTen;
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(1);
  Task* const tasks[] = {&task};
  const auto lane = backend.make_lane(0);
  lane->start(0, batch_key(task, 32), tasks);
  lane->finish(0);
  return task;
}

/// The rounding errors of all pixels together are not negligible. A full decomposition in float64
/// would give the same pixels and take 100 times as long.
TEST(CpuBackend, certifies_a_large_flat_image_in_float32) {
  Image flat(ImageShape{1000, 900, 1, Depth::u16});
  std::fill_n(reinterpret_cast<std::uint16_t*>(flat.data()), 1000 * 900, 64321);
  const Task task = compute_alone(*make_cpu_backend({}), std::move(flat));
  EXPECT_FALSE(task.results[0][0].is_recomputed);
  EXPECT_EQ(task.results[0][0].squared_error, 0);
  EXPECT_EQ(task.results[0][0].loss_estimate_db, 0);
}

/// Its noise of one level in 65,535 is rounding for float32.
TEST(CpuBackend, recomputes_an_image_in_float64_that_float32_does_not_certify) {
  const auto backend = make_cpu_backend({});
  const Task task = compute_alone(*backend, synth::synthesize({.kind = synth::SynthKind::constant,
                                                               .rows = 100,
                                                               .cols = 100,
                                                               .depth = Depth::u16,
                                                               .noise_sigma = 1}));
  EXPECT_EQ(backend->solver_choices().at(0).solver, SolverKind::subspace);
  EXPECT_EQ(task.results[0][0].solver, SolverKind::gram);
  EXPECT_TRUE(task.results[0][0].is_recomputed);
}

/// Both with subspace iteration and with a full decomposition.
TEST(CpuBackend, gives_a_black_plane_full_energy) {
  for (const auto& [rows, cols] : {std::pair{100, 90}, {90, 100}, {20, 30}}) {
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      const auto backend = make_cpu_backend({});
      Image black(ImageShape{rows, cols, 1, depth});
      std::fill_n(black.data(), black.bytes(), std::byte{0});
      const Task task = compute_alone(*backend, std::move(black));
      EXPECT_EQ(task.error, "");
      EXPECT_EQ(task.results[0][0].energy, 1) << rows << " x " << cols;
      EXPECT_EQ(task.results[0][0].residual, 0);
      EXPECT_EQ(task.results[0][0].squared_error, 0);
      EXPECT_EQ(task.results[0][0].loss_estimate_db, 0);
      EXPECT_EQ(std::memcmp(task.outputs[0].data(), task.input.data(), task.input.bytes()), 0);
    }
  }
}

TEST(CpuBackend, uses_the_costs_measured_on_its_cpu) {
  const std::string device = make_cpu_backend({})->device_name();
  EXPECT_FALSE(device.empty());
  const SolverCosts slow_subspace = {{.batch_s = 100}, {.batch_s = 1}};
  const auto here =
      make_cpu_backend(options({{CostBackend::cpu, device, "2026-01-02", slow_subspace}}));
  EXPECT_EQ(solver_choices(*here, {{100, 90}}).at(0).solver, SolverKind::gram);
  EXPECT_THAT(here->details(), Contains(HasSubstr("measured on this machine on 2026-01-02")));
  const auto elsewhere =
      make_cpu_backend(options({{CostBackend::cpu, "another", "2026-01-02", slow_subspace}}));
  EXPECT_EQ(solver_choices(*elsewhere, {{100, 90}}).at(0).solver, SolverKind::subspace);
  EXPECT_THAT(elsewhere->details(), Contains(HasSubstr("built-in")));
}

}  // namespace
}  // namespace eckart::compute::cpu
