#include "compute/cpu/time_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "compute/cpu/cpu_backend.hpp"

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

}  // namespace
}  // namespace eckart::compute::cpu
