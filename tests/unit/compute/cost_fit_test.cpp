#include "compute/cost_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compute/cost_model.hpp"

namespace eckart::compute {
namespace {

using enum SolverKind;

const SolverCosts kKnown = {.subspace = {2e-4, 3e-10, 1e-13, 5e-12, 4e-12},
                            .gram = {2e-3, 2e-10, 2e-13, 3e-9, 2e-12}};

/// The timings of a machine with these costs, alternately longer and shorter by a share of `off`.
std::vector<Timing> timings(const SolverCosts& costs, double off = 0) {
  std::vector<Timing> all;
  for (const SolverKind solver : {subspace, gram}) {
    for (const auto& [rows, cols] : {std::pair{64, 64}, {512, 128}, {256, 256}, {1024, 1024}}) {
      for (const int planes : {4, 64, 512}) {
        for (const int rank : {4, 20, 36}) {
          const BatchWorkload batch{{rows, cols}, rank, rank + 28, planes};
          all.push_back({solver, batch, (1 + off) * estimate_seconds(solver, batch, costs)});
          off = -off;
        }
      }
    }
  }
  return all;
}

TEST(CostFit, recovers_the_costs_that_made_the_timings) {
  const SolverCosts found = fit_costs(timings(kKnown));
  for (const auto& [name, coefficient] : kCostTerms) {
    EXPECT_NEAR(found.subspace.*coefficient / (kKnown.subspace.*coefficient), 1, 1e-6) << name;
    EXPECT_NEAR(found.gram.*coefficient / (kKnown.gram.*coefficient), 1, 1e-6) << name;
  }
}

TEST(CostFit, recovers_zero_costs) {
  const SolverCosts known = {.subspace = {.flop_s = 1e-13}, .gram = {.cube_s = 2e-12}};
  const SolverCosts found = fit_costs(timings(known));
  for (const Timing& timing : timings(known)) {
    EXPECT_NEAR(estimate_seconds(timing.solver, timing.batch, found) / timing.seconds, 1, 1e-6);
  }
  EXPECT_LT(found.subspace.batch_s, 1e-12);
}

TEST(CostFit, fits_short_and_long_timings_equally_well) {
  constexpr double kOff = 0.1;
  const SolverCosts found = fit_costs(timings(kKnown, kOff));
  for (const Timing& timing : timings(kKnown)) {
    EXPECT_NEAR(estimate_seconds(timing.solver, timing.batch, found) / timing.seconds, 1,
                1.5 * kOff);
  }
}

TEST(CostFit, returns_no_negative_costs) {
  std::vector<Timing> inconsistent = timings(kKnown);
  // More planes take less total time, which no non-negative costs explain.
  for (Timing& timing : inconsistent) timing.seconds = 1 / double(timing.batch.planes);
  const SolverCosts found = fit_costs(inconsistent);
  for (const auto& [name, coefficient] : kCostTerms) {
    EXPECT_GE(found.subspace.*coefficient, 0) << name;
    EXPECT_GE(found.gram.*coefficient, 0) << name;
  }
}

TEST(CostFit, accepts_timings_that_do_not_separate_the_terms) {
  const Timing one{subspace, {{64, 64}, 4, 32, 8}, 0.25}, other{gram, {{64, 64}, 4, 32, 8}, 0.5};
  const SolverCosts found = fit_costs(std::vector{one, one, other});
  EXPECT_NEAR(estimate_seconds(subspace, one.batch, found), 0.25, 1e-9);
  EXPECT_NEAR(estimate_seconds(gram, one.batch, found), 0.5, 1e-9);
}

TEST(CostFit, ignores_float64_subspace_timings) {
  std::vector<Timing> all = timings(kKnown);
  const BatchWorkload batch{{512, 512}, 300, 384, 256, true};
  all.push_back({subspace, batch, 100 * estimate_seconds(subspace, batch, kKnown)});
  EXPECT_FALSE(is_used_in_fit(all.back()));
  all.push_back({gram, batch, estimate_seconds(gram, batch, kKnown)});
  EXPECT_TRUE(is_used_in_fit(all.back()));
  const SolverCosts found = fit_costs(all);
  for (const auto& [name, coefficient] : kCostTerms) {
    EXPECT_NEAR(found.subspace.*coefficient / (kKnown.subspace.*coefficient), 1, 1e-6) << name;
  }
}

TEST(CostFit, requires_timings_of_both_solvers) {
  const Timing one{subspace, {{64, 64}, 4, 32, 8}, 0.25};
  EXPECT_THROW(fit_costs(std::vector{one}), std::invalid_argument);
}

}  // namespace
}  // namespace eckart::compute
