#include "compute/cost_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>

#include "compute/cpu/built_in_costs.hpp"
#include "compute/cuda/plan/built_in_costs.hpp"

namespace eckart::compute {
namespace {

using enum SolverKind;
using cuda::kBuiltInCudaCosts;

constexpr BatchWorkload kBatch{{256, 192}, 20, 48, 64};

TEST(CostModel, grows_with_every_dimension) {
  for (const SolverCosts& costs : {compute::cpu::kBuiltInCpuCosts, kBuiltInCudaCosts}) {
    for (const SolverKind solver : {subspace, gram}) {
      const double base = estimate_seconds(solver, kBatch, costs);
      EXPECT_GT(base, 0);
      EXPECT_GT(estimate_seconds(solver, {{512, 192}, 20, 48, 64}, costs), base);
      EXPECT_GT(estimate_seconds(solver, {{256, 256}, 20, 48, 64}, costs), base);
      EXPECT_GT(estimate_seconds(solver, {{256, 192}, 40, 80, 64}, costs), base);
      EXPECT_GT(estimate_seconds(solver, {{256, 192}, 20, 48, 65}, costs), base);
    }
  }
}

TEST(CostModel, divides_the_batch_cost_among_planes) {
  const SolverCosts costs{.subspace = {.batch_s = 1, .cube_s = 1e-6},
                          .gram = {.batch_s = 2, .cube_s = 1e-6}};
  const BatchWorkload one{{256, 192}, 20, 48, 1};
  for (const SolverKind solver : {subspace, gram}) {
    EXPECT_LT(estimate_seconds(solver, kBatch, costs) / kBatch.planes,
              estimate_seconds(solver, one, costs));
  }
  const double batch_s = 2;
  EXPECT_DOUBLE_EQ(estimate_seconds(gram, kBatch, costs) - batch_s,
                   kBatch.planes * (estimate_seconds(gram, one, costs) - batch_s));
}

TEST(CostModel, counts_the_same_work_for_every_plane) {
  const BatchWorkload one{{256, 192}, 20, 48, 1};
  for (const SolverKind solver : {subspace, gram}) {
    const auto single = operation_counts(solver, one), full = operation_counts(solver, kBatch);
    EXPECT_EQ(full[0], single[0]);
    for (std::size_t i = 1; i < full.size(); ++i) {
      EXPECT_DOUBLE_EQ(full[i], kBatch.planes * single[i]) << kCostTerms[i].name;
    }
  }
}

TEST(CostModel, matches_h200_measurements) {  // docs/explanation/performance.md, images/s
  const struct {
    SolverKind solver;
    int side, rank, columns, planes;
    double rate;
  } figures[] = {
      {subspace, 256, 20, 48, 512, 635000}, {subspace, 256, 100, 128, 512, 127000},
      {subspace, 512, 50, 80, 256, 116000}, {subspace, 1024, 100, 128, 64, 30100},
      {subspace, 2048, 128, 160, 16, 7150}, {gram, 256, 20, 48, 512, 17000},
      {gram, 512, 50, 80, 256, 3140},
  };
  for (const auto& [solver, side, rank, columns, planes, rate] : figures) {
    const double model =
        planes / estimate_seconds(solver, {{side, side}, rank, columns, planes}, kBuiltInCudaCosts);
    EXPECT_NEAR(model / rate, 1, 0.15) << to_string(solver) << " " << side << ", rank " << rank;
  }
}

TEST(CostModel, does_not_underestimate_float64_time) {
  const struct {
    int side, rank, columns, planes;
    double rate;
  } figures[] = {{256, 170, 224, 512, 15700},
                 {512, 300, 384, 256, 4110},
                 {1024, 400, 512, 64, 1170},
                 {2048, 256, 320, 16, 748}};
  for (const auto& [side, rank, columns, planes, rate] : figures) {
    const double model =
        planes /
        estimate_seconds(subspace, {{side, side}, rank, columns, planes, true}, kBuiltInCudaCosts);
    EXPECT_LT(model / rate, 1.1) << side << ", rank " << rank;
    EXPECT_GT(model / rate, 0.5) << side << ", rank " << rank;
  }
}

TEST(CostModel, selects_the_costs_of_this_backend_and_device) {
  const Calibration calibration = {{CostBackend::cpu, "other", "2026-01-01", {{}, {.cube_s = 1}}},
                                   {CostBackend::cuda, "this", "2026-01-02", {{}, {.cube_s = 2}}},
                                   {CostBackend::cpu, "this", "2026-01-03", {{}, {.cube_s = 3}}},
                                   {CostBackend::cpu, "this", "2026-01-04", {{}, {.cube_s = 4}}}};
  const MeasuredCosts found =
      select_costs(calibration, CostBackend::cpu, "this", compute::cpu::kBuiltInCpuCosts);
  EXPECT_EQ(found.costs.gram.cube_s, 3);
  EXPECT_EQ(describe_source(found), "solver costs: measured on this machine on 2026-01-03");
  const MeasuredCosts none =
      select_costs(calibration, CostBackend::cpu, "third", compute::cpu::kBuiltInCpuCosts);
  EXPECT_EQ(none.costs.gram.cube_s, compute::cpu::kBuiltInCpuCosts.gram.cube_s);
  EXPECT_NE(describe_source(none).find("built-in"), std::string::npos);
}

/// The table of the header.
TEST(CostModel, counts_the_operations_of_each_solver) {
  using testing::ElementsAre;
  constexpr double m = 300, n = 60, l = 24;
  const BatchWorkload small{{300, 60}, 8, 24, 2}, large{{300, 60}, 30, 24, 2};
  EXPECT_THAT(operation_counts(subspace, small),
              ElementsAre(1, 2 * m * n, 2 * (2 * m * n * l + 2 * (m + n) * l * l), 2 * l * l,
                          2 * l * l * l));
  for (const auto& [batch, k, b] : {std::tuple{small, 8.0, 8.0}, {large, 30.0, 10.0}}) {
    EXPECT_THAT(
        operation_counts(gram, batch),
        ElementsAre(1, 2 * m * n, 2 * (m * n * n + 4 * m * n * k + 2 * n * n * b + 4 * n * b * b),
                    2 * n * b, 2 * n * n * n));
  }
  BatchWorkload float64 = small;
  float64.is_float64 = true;
  EXPECT_THAT(operation_counts(subspace, float64),
              ElementsAre(1, 2 * m * n, 2 * (6 * m * n * l + 4.5 * (m + n) * l * l), 2 * l * l,
                          2 * l * l * l));
  const SolverCosts costs{.subspace = {.sample_s = 1}, .gram = {.batch_s = 1}};
  EXPECT_EQ(estimate_seconds(subspace, small, costs), 2 * m * n);
  EXPECT_EQ(estimate_seconds(gram, small, costs), 1);
  EXPECT_EQ(estimate_seconds(subspace, float64, costs), 1) << "with the costs of gram";
  EXPECT_THROW(operation_counts(gesvd, small), std::logic_error);
  EXPECT_EQ(describe_source({}),
            "solver costs: built-in defaults; run eckart doctor --calibrate to measure this "
            "machine");
  const MeasuredCosts none = select_costs({}, CostBackend::cuda, "GPU", costs);
  EXPECT_EQ(none.backend, CostBackend::cuda);
  EXPECT_EQ(none.device, "GPU");
}

}  // namespace
}  // namespace eckart::compute
