#include "compute/cpu/cpu_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/synth.hpp"

namespace eckart::cpu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// What it chose for images of these sizes.
std::vector<SolverChoice> choices(Backend& backend, const std::vector<std::pair<int, int>>& sizes) {
  const auto lane = backend.make_lane(0);
  for (const auto& [rows, cols] : sizes) {
    Task task;
    task.input =
        synthesize({.kind = SynthKind::texture, .rows = rows, .cols = cols, .channels = 1});
    task.outputs.emplace_back(task.input.shape());
    task.results.emplace_back(1);
    Task* const tasks[] = {&task};
    lane->start(0, padded_shape(task.input.shape(), 32), tasks);
    lane->finish(0);
  }
  return backend.choices();
}

BackendOptions options(const std::vector<RankPolicy>& ranks, const Calibration& calibration = {}) {
  BackendOptions options;
  options.ranks = ranks;
  options.calibration = calibration;
  return options;
}

TEST(CpuBackend, tells_how_it_decomposes_every_shape) {
  const auto backend = make_cpu_backend(options({{10}}));
  EXPECT_TRUE(backend->choices().empty());
  const auto all = choices(*backend, {{90, 100}, {100, 90}, {20, 30}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].batch.shape, (PaddedShape{30, 20}));
  EXPECT_EQ(all[1].solver, SolverKind::gram);
  EXPECT_EQ(all[0].batch.shape, (PaddedShape{100, 90}));
  EXPECT_EQ(all[0].batch.rank, 10);
  EXPECT_EQ(all[0].batch.planes, 1);
  EXPECT_EQ(all[0].solver, SolverKind::subspace);
  EXPECT_THAT(all[0].reason, HasSubstr("32 of 90 columns"));
}

/// Whose rounding errors, over all pixels, are not negligible: a full decomposition in float64
/// would take a hundred times as long, for the same pixels.
TEST(CpuBackend, settles_a_large_flat_image_in_float32) {
  const auto backend = make_cpu_backend(options({{10}}));
  const auto lane = backend->make_lane(0);
  Task task;
  task.input = Image(ImageShape{1000, 900, 1, Depth::u16});
  std::fill_n(reinterpret_cast<std::uint16_t*>(task.input.data()), 1000 * 900, 64321);
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(1);
  Task* const tasks[] = {&task};
  lane->start(0, padded_shape(task.input.shape(), 32), tasks);
  lane->finish(0);
  EXPECT_FALSE(task.results[0][0].done_again);
  EXPECT_EQ(task.results[0][0].squared_error, 0);
  EXPECT_EQ(task.results[0][0].most_loss_db, 0);
}

TEST(CpuBackend, goes_by_the_costs_measured_on_its_cpu) {
  const std::string device = make_cpu_backend(options({{1}}))->device();
  EXPECT_FALSE(device.empty());
  const SolverCosts slow_subspace = {{.batch_s = 100}, {.batch_s = 1}};
  const auto here =
      make_cpu_backend(options({{10}}, {{"cpu", device, "2026-01-02", slow_subspace}}));
  EXPECT_EQ(choices(*here, {{100, 90}}).at(0).solver, SolverKind::gram);
  EXPECT_THAT(here->details(), Contains(HasSubstr("measured here on 2026-01-02")));
  const auto elsewhere =
      make_cpu_backend(options({{10}}, {{"cpu", "another", "2026-01-02", slow_subspace}}));
  EXPECT_EQ(choices(*elsewhere, {{100, 90}}).at(0).solver, SolverKind::subspace);
  EXPECT_THAT(elsewhere->details(), Contains(HasSubstr("built in")));
}

}  // namespace
}  // namespace eckart::cpu
