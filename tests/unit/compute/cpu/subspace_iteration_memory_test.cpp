// Subspace iteration after an allocation has failed. A program of its own, because it replaces
// operator new.
#include <gtest/gtest.h>

#include <new>
#include <random>
#include <vector>

#include "compute/cpu/subspace_iteration.hpp"
#include "tests/support/failing_new.hpp"

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 150, kCols = 120, kRank = 10, kWidth = 32;

std::vector<float> random_samples() {
  std::mt19937 random(1);
  std::vector<float> a_t_nm(std::size_t(kRows) * kCols);
  for (float& sample : a_t_nm) sample = float(random() % 256);
  return a_t_nm;
}

std::vector<double> ritz_values(SubspaceIteration& iteration, const std::vector<float>& a_t_nm) {
  iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
  iteration.apply_filter(5);
  return iteration.compute_factors().ritz;
}

/// Each allocation fails in turn. The next plane has the same shape.
TEST(SubspaceIterationMemory, is_correct_for_the_plane_after_a_failed_allocation) {
  const std::vector<float> a_t_nm = random_samples();
  SubspaceIteration fresh;
  const std::vector<double> expected = ritz_values(fresh, a_t_nm);
  int failed = 0;
  for (long number = 1;; ++number) {
    SubspaceIteration iteration;
    test::fail_allocation(number);
    try {
      iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    if (!test::stop_failing_allocations()) break;
    EXPECT_EQ(ritz_values(iteration, a_t_nm), expected) << "allocation " << number;
  }
  EXPECT_GT(failed, 5);
}

/// The first plane of another shape fails. The next plane has the shape of the first one again.
TEST(SubspaceIterationMemory, is_correct_for_an_earlier_shape_after_a_failed_allocation) {
  const std::vector<float> a_t_nm = random_samples();
  SubspaceIteration fresh;
  const std::vector<double> expected = ritz_values(fresh, a_t_nm);
  for (long number = 1;; ++number) {
    SubspaceIteration iteration;
    EXPECT_EQ(ritz_values(iteration, a_t_nm), expected);
    test::fail_allocation(number);
    try {
      iteration.start(a_t_nm, kCols, kCols, kRank, 2 * kWidth);
    } catch (const std::bad_alloc&) {
    }
    if (!test::stop_failing_allocations()) break;
    EXPECT_EQ(ritz_values(iteration, a_t_nm), expected) << "allocation " << number;
  }
}

}  // namespace
}  // namespace eckart::compute::cpu
