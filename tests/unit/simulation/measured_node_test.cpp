#include "simulation/measured_node.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace eckart::simulation {
namespace {

/// A run of a minute on four cores that were busy.
capacity::LoggedRun run_of(const std::string& id, std::int64_t images, double startup_s) {
  capacity::LoggedRun run{.id = id, .command = "run", .cores = 4, .startup_s = startup_s};
  run.total = capacity::ThroughputSample{.elapsed_s = 60 + startup_s,
                                         .interval_s = 60 + startup_s,
                                         .done = images,
                                         .pixels = 1000 * images,
                                         .input_bytes = 700 * images,
                                         .output_bytes = 600 * images,
                                         .cpu_s = 239};
  return run;
}

TEST(MeasuredNode, is_the_mean_of_its_runs) {
  const MeasuredNode node = measured_node({run_of("a", 5900, 1), run_of("b", 6100, 3)});
  EXPECT_NEAR(node.images_per_s, 100, 1e-9);
  EXPECT_EQ(node.startup_s, 2);
  EXPECT_EQ(node.input_bytes, 700);
  EXPECT_EQ(node.output_bytes, 600);
}

TEST(MeasuredNode, refuses_several_kinds_of_work) {
  capacity::LoggedRun other = run_of("b", 6000, 1);
  other.settings = {{"rank", "50"}};
  EXPECT_THROW(measured_node({run_of("a", 6000, 1), other}), std::invalid_argument);
}

}  // namespace
}  // namespace eckart::simulation
