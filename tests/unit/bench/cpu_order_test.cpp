#include "bench/cpu_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/scaling_benchmark.hpp"
#include "core/error.hpp"
#include "machine/usable_cores.hpp"

namespace eckart::bench {
namespace {

using testing::ElementsAre;

TEST(CpuOrder, takes_one_cpu_of_each_core_first) {
  const auto pairs = [](int cpu) {
    return std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4);
  };
  EXPECT_THAT(cpus_by_core({0, 1, 2, 3, 4, 5, 6, 7}, pairs), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const auto neighbors = [](int cpu) { return std::to_string(cpu / 2); };
  EXPECT_THAT(cpus_by_core({0, 1, 2, 3, 4, 5}, neighbors), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(cpus_by_core({2, 3, 7}, neighbors), ElementsAre(2, 7, 3));
}

TEST(CpuOrder, is_numeric_if_siblings_are_unknown) {
  EXPECT_THAT(cpus_by_core({0, 1, 5}, [](int) { return ""; }), ElementsAre(0, 1, 5));
}

TEST(CpuOrder, has_the_cpus_of_this_process) {
  EXPECT_EQ(int(cpus_by_core().size()), machine::usable_cores());
}

TEST(CpuOrder, has_as_many_cpus_as_requested) {
  EXPECT_EQ(first_cpus_by_core(0), cpus_by_core());
  EXPECT_EQ(first_cpus_by_core(1), std::vector<int>{cpus_by_core().front()});
  EXPECT_THROW(first_cpus_by_core(5000), FatalError);
}

TEST(ScalingBenchmark, doubles_core_counts_up_to_all) {
  EXPECT_THAT(default_core_counts(1), ElementsAre(1));
  EXPECT_THAT(default_core_counts(2), ElementsAre(1, 2));
  EXPECT_THAT(default_core_counts(12), ElementsAre(1, 2, 4, 8, 12));
  EXPECT_THAT(default_core_counts(16), ElementsAre(1, 2, 4, 8, 16));
}

}  // namespace
}  // namespace eckart::bench
