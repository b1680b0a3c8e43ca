#include "bench/cpu_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/scaling.hpp"
#include "core/usable_cores.hpp"

namespace eckart::bench {
namespace {

using testing::ElementsAre;

TEST(CpuOrder, TakesOneCpuOfEachCoreBeforeTheSecondOfAny) {
  const auto pairs = [](int cpu) {
    return std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4);
  };
  EXPECT_THAT(cpus_by_core({0, 1, 2, 3, 4, 5, 6, 7}, pairs), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const auto neighbours = [](int cpu) { return std::to_string(cpu / 2); };
  EXPECT_THAT(cpus_by_core({0, 1, 2, 3, 4, 5}, neighbours), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(cpus_by_core({2, 3, 7}, neighbours), ElementsAre(2, 7, 3));
}

TEST(CpuOrder, IsThatOfTheNumbersWhereCoresAreNotKnown) {
  EXPECT_THAT(cpus_by_core({0, 1, 5}, [](int) { return ""; }), ElementsAre(0, 1, 5));
}

TEST(CpuOrder, HasTheCpusOfThisProcess) { EXPECT_EQ(int(cpus_by_core().size()), usable_cores()); }

TEST(Scaling, GoesByDoublingToAllCores) {
  EXPECT_THAT(usual_cores(1), ElementsAre(1));
  EXPECT_THAT(usual_cores(2), ElementsAre(1, 2));
  EXPECT_THAT(usual_cores(12), ElementsAre(1, 2, 4, 8, 12));
  EXPECT_THAT(usual_cores(16), ElementsAre(1, 2, 4, 8, 16));
}

}  // namespace
}  // namespace eckart::bench
