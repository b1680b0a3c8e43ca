// What docs/explanation/reliability.md tells of the memory of a lane. In a program of its own,
// because it replaces operator new.
#include <gtest/gtest.h>

#include <string>

#include "compute/cpu/cpu_backend.hpp"
#include "core/rank_spec.hpp"
#include "synth/synth.hpp"
#include "tests/support/failing_new.hpp"

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 360, kCols = 300;

/// Returns the most memory of a lane that computes an 8-bit image of three channels, in bytes per
/// pixel of one channel. Without that which LAPACK allocates while it works.
double lane_bytes_per_pixel(const std::string& rank, SolverKind solver) {
  BackendOptions options;
  options.solver = solver;
  const auto backend = make_cpu_backend(options);
  Task task;
  task.input = synth::synthesize(
      {.kind = synth::SynthKind::texture, .rows = kRows, .cols = kCols, .channels = 3});
  task.ranks = parse_ranks(rank);
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(3);
  Task* const tasks[] = {&task};
  test::count_allocated_bytes();
  const auto lane = backend->make_lane(0);
  lane->start(0, batch_key(task, 1), tasks);
  lane->finish(0);
  EXPECT_EQ(task.error, "") << rank;
  return double(test::max_allocated_bytes()) / (kRows * kCols);
}

TEST(LaneMemory, is_bounded_though_the_ranks_of_all_channels_are_chosen_together) {
  const auto bytes = lane_bytes_per_pixel;
  EXPECT_LT(bytes("psnr:24", SolverKind::automatic), 2.5 * bytes("20", SolverKind::automatic));
  // With this target, the iteration in float32 is tried before gram.
  EXPECT_LT(bytes("psnr:60", SolverKind::automatic), 1.6 * bytes("psnr:60", SolverKind::gram));
  EXPECT_LT(bytes("psnr:24", SolverKind::gram), 1.7 * bytes("20", SolverKind::gram));
  EXPECT_LT(bytes("psnr:24", SolverKind::gesvd), 1.3 * bytes("20", SolverKind::gesvd));
}

}  // namespace
}  // namespace eckart::compute::cpu
