#include "machine/gpu_monitor.hpp"

#include <gtest/gtest.h>

namespace eckart::machine {
namespace {

/// tests/cli/fake_nvml.cpp takes the place of the driver's library.
TEST(GpuMonitor, sums_what_the_driver_reports) {
  GpuMonitor monitor({"0000:01:00.0"});
  EXPECT_EQ(monitor.driver(), "1.2");
  monitor.sample(2);
  monitor.sample(4);
  ASSERT_EQ(monitor.usages().size(), 1u);
  const GpuUsage& usage = monitor.usages().front();
  EXPECT_EQ(usage.uuid, "GPU-0");
  EXPECT_DOUBLE_EQ(usage.seconds, 6);
  EXPECT_DOUBLE_EQ(usage.busy_s, 0.50 * 6);
  EXPECT_DOUBLE_EQ(usage.memory_busy_s, 0.25 * 6);
  EXPECT_DOUBLE_EQ(usage.energy_j, 300.5 * 6);
  EXPECT_EQ(usage.memory_used_bytes, 1 << 30);
  EXPECT_EQ(usage.sm_mhz, 1500);
  EXPECT_EQ(usage.temperature_c, 60);
  EXPECT_EQ(usage.throttled_samples[std::size_t(ThrottleReason::power)], 2);
  EXPECT_EQ(usage.throttled_samples[std::size_t(ThrottleReason::thermal)], 0);
}

TEST(GpuMonitor, describes_the_gpus) {
  const auto gpus = GpuMonitor({"0000:01:00.0", "0000:02:00.0"}).read_gpu_infos();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[1].name, "a GPU");
  EXPECT_EQ(gpus[1].memory_bytes, 1 << 30);
  EXPECT_DOUBLE_EQ(gpus[1].power_limit_w, 700);
}

}  // namespace
}  // namespace eckart::machine
