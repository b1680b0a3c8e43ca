#include "compute/cpu/time_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "compute/cpu/cpu_backend.hpp"
#include "compute/cpu/cpu_name.hpp"

namespace eckart::compute::cpu {
namespace {

constexpr PaddedShape kShape{208, 176};

/// The time of one plane at rank 20, with changed options.
template <class Change>
double seconds_with(Change&& change, bool is_complete = false) {
  BackendOptions options;
  change(options);
  return TimeModel(options).plane_seconds(kShape, 20, is_complete);
}
constexpr auto kUnchanged = [](BackendOptions&) {};

TEST(CpuTimeModel, prefers_the_faster_solver) {
  const double low_rank = seconds_with(kUnchanged);
  EXPECT_GT(low_rank, 0);
  EXPECT_LT(low_rank, seconds_with(kUnchanged, true)) << "all singular values take longer";
  EXPECT_LT(low_rank, seconds_with([](BackendOptions& o) { o.solver = SolverKind::gram; }));
}

TEST(CpuTimeModel, doubles_the_time_of_a_proof) {
  EXPECT_DOUBLE_EQ(seconds_with([](BackendOptions& o) { o.certificate = Certificate::bound; }),
                   2 * seconds_with(kUnchanged));
}

TEST(CpuTimeModel, has_no_prediction_for_full_svds) {
  EXPECT_TRUE(std::isinf(seconds_with([](BackendOptions& o) { o.solver = SolverKind::gesvd; })));
}

TEST(CpuTimeModel, has_the_lanes_of_the_backend) {
  BackendOptions options;
  EXPECT_EQ(TimeModel(options).lanes(), make_cpu_backend(options)->lanes());
  options.lanes = 1;
  EXPECT_EQ(TimeModel(options).lanes(), 1);
}

TEST(CpuTimeModel, estimates_the_solver_that_would_be_used) {
  const SolverCosts costs{.subspace = {.batch_s = 1}, .gram = {.batch_s = 4}};
  const auto seconds = [&](SolverKind solver, int rank, bool is_complete = false) {
    BackendOptions options;
    options.solver = solver;
    options.calibration = {{CostBackend::cpu, cpu_name(), "2026-01-01", costs}};
    return TimeModel(options).plane_seconds(kShape, rank, is_complete);
  };
  EXPECT_EQ(seconds(SolverKind::automatic, 20), 1);
  EXPECT_EQ(seconds(SolverKind::subspace, 20), 1);
  EXPECT_EQ(seconds(SolverKind::automatic, 170), 4) << "too many columns";
  EXPECT_EQ(seconds(SolverKind::automatic, 20, true), 4);
  EXPECT_EQ(seconds(SolverKind::gram, 20), 4);
  EXPECT_TRUE(std::isinf(seconds(SolverKind::gesvdj, 20, true)));
}

}  // namespace
}  // namespace eckart::compute::cpu
