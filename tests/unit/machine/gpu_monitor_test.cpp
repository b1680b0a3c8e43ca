#include "machine/gpu_monitor.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/cli/fake_nvml.hpp"

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

/// Changes the values of the GPU during its lifetime.
class ChangedNvml {
 public:
  ChangedNvml()
      : library_(::dlopen("libnvidia-ml.so.1", RTLD_NOW)),
        values_(static_cast<FakeNvml*>(::dlsym(library_, "fake_nvml"))) {}
  ~ChangedNvml() {
    *values_ = {};
    ::dlclose(library_);
  }
  ChangedNvml(const ChangedNvml&) = delete;
  ChangedNvml& operator=(const ChangedNvml&) = delete;
  FakeNvml* operator->() const { return values_; }

 private:
  void* const library_;
  FakeNvml* const values_;
};

TEST(GpuMonitor, has_the_memory_and_the_clocks_of_the_last_sample) {
  const ChangedNvml nvml;
  nvml->total_free_used[0] = 3000;
  nvml->total_free_used[1] = 2000;
  nvml->total_free_used[2] = 1000;
  nvml->clock_mhz[0] = 100;   // of graphics
  nvml->clock_mhz[1] = 1700;  // of multiprocessors
  nvml->clock_mhz[2] = 2600;  // of the memory
  GpuMonitor monitor({"0000:01:00.0"});
  EXPECT_EQ(monitor.read_gpu_infos().at(0).memory_bytes, 3000);
  EXPECT_EQ(monitor.read_gpu_infos().at(0).uuid, "GPU-0");
  monitor.sample(1);
  EXPECT_EQ(monitor.usages()[0].memory_used_bytes, 1000);
  EXPECT_EQ(monitor.usages()[0].sm_mhz, 1700);
  EXPECT_EQ(monitor.usages()[0].memory_mhz, 2600);
  nvml->total_free_used[2] = 500;
  nvml->clock_mhz[1] = 1600;
  monitor.sample(1);
  EXPECT_EQ(monitor.usages()[0].memory_used_bytes, 500) << "now, and not in all";
  EXPECT_EQ(monitor.usages()[0].sm_mhz, 1600);
}

/// The counter is more precise than the power. It may be reset, or fail for a while.
TEST(GpuMonitor, counts_the_energy_since_its_start_once) {
  const ChangedNvml nvml;
  nvml->energy_mj = 5000;
  GpuMonitor monitor({"0000:01:00.0"});
  const auto energy_j = [&](unsigned long long mj) {
    nvml->energy_mj = mj;
    monitor.sample(2);
    return monitor.usages()[0].energy_j;
  };
  EXPECT_DOUBLE_EQ(energy_j(7500), 2.5);
  EXPECT_DOUBLE_EQ(energy_j(9000), 4);
  EXPECT_DOUBLE_EQ(energy_j(1000), 4) << "the driver was loaded again";
  EXPECT_DOUBLE_EQ(energy_j(2000), 5);
  EXPECT_DOUBLE_EQ(energy_j(0), 5 + 2 * 300.5) << "by the power";
  EXPECT_DOUBLE_EQ(energy_j(9000), 5 + 2 * 300.5) << "the interval before has been counted";
  EXPECT_DOUBLE_EQ(energy_j(9500), 5.5 + 2 * 300.5);
}

TEST(GpuMonitor, counts_no_time_in_which_the_driver_does_not_tell_the_use) {
  const ChangedNvml nvml;
  GpuMonitor monitor({"0000:01:00.0"});
  monitor.sample(2);
  nvml->has_utilization = false;
  monitor.sample(4);
  EXPECT_DOUBLE_EQ(monitor.usages()[0].seconds, 2);
  EXPECT_DOUBLE_EQ(monitor.usages()[0].busy_s, 1);
}

TEST(GpuMonitor, counts_each_reason_of_throttled_clocks_once_a_sample) {
  const std::pair<unsigned long long, std::string> cases[] = {
      {0, "00000"},    {0x01, "00000"}, {0x02, "00000"},  {0x04, "10000"},  {0x08, "00100"},
      {0x10, "00010"}, {0x20, "01000"}, {0x40, "01000"},  {0x80, "10000"},  {0x100, "00000"},
      {0x84, "10000"}, {0x60, "01000"}, {0x200, "00001"}, {0x1ff, "11110"}, {1ULL << 63, "00001"}};
  const ChangedNvml nvml;
  for (const auto& [bits, expected] : cases) {
    GpuMonitor monitor({"0000:01:00.0"});
    nvml->throttle_reasons = bits;
    monitor.sample(1);
    std::string counts;  // power, thermal, hardware, sync, other
    for (const auto count : monitor.usages()[0].throttled_samples) counts += std::to_string(count);
    EXPECT_EQ(counts, expected) << std::hex << bits;
  }
}

}  // namespace
}  // namespace eckart::machine
