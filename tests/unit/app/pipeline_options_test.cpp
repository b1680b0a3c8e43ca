#include "app/pipeline_options.hpp"

#include <gtest/gtest.h>

#include "core/default_budget.hpp"
#include "core/mebibytes.hpp"
#include "machine/usable_memory.hpp"

namespace eckart::app {
namespace {

TEST(MemoryBudget, is_a_share_of_the_usable_memory_if_it_is_auto) {
  const std::int64_t usable_mb = machine::usable_memory_bytes() / kMiB;
  EXPECT_EQ(pipeline_options({}).budget_bytes, default_budget_mb(usable_mb) * kMiB);
}

TEST(MemoryBudget, is_the_number_that_is_set) {
  settings::Settings settings;
  settings.budget_mb = 5;
  EXPECT_EQ(pipeline_options(settings).budget_bytes, 5 * kMiB);
}

}  // namespace
}  // namespace eckart::app
