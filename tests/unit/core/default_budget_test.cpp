#include "core/default_budget.hpp"

#include <gtest/gtest.h>

#include "core/default_threads.hpp"
#include "core/gpu_memory.hpp"
#include "core/image_format.hpp"
#include "core/image_limits.hpp"

namespace eckart {
namespace {

constexpr std::int64_t kGiB = 1024;  // in MiB

TEST(DefaultBudget, is_a_16th_of_the_memory_up_to_8_gib) {
  EXPECT_EQ(default_budget_mb(64 * kGiB), 4 * kGiB);
  EXPECT_EQ(default_budget_mb(128 * kGiB), 8 * kGiB);
  EXPECT_EQ(default_budget_mb(2048 * kGiB), 8 * kGiB);
}

TEST(DefaultBudget, is_at_least_2_gib) {
  EXPECT_EQ(default_budget_mb(8 * kGiB), 2 * kGiB);
  EXPECT_EQ(default_budget_mb(24 * kGiB), 2 * kGiB);
  EXPECT_EQ(default_budget_mb(32 * kGiB), 2 * kGiB);
}

TEST(DefaultBudget, leaves_three_quarters_of_a_small_memory) {
  EXPECT_EQ(default_budget_mb(4 * kGiB), kGiB);
  EXPECT_EQ(default_budget_mb(2 * kGiB), kGiB / 2);
  EXPECT_EQ(default_budget_mb(1), 1);
}

TEST(DefaultThreadCount, fits_to_the_cores) {
  struct Case {
    int cores, load, write, max, lanes;
  };
  for (const Case& expected :
       {Case{1, 1, 2, 8, 1}, Case{2, 1, 3, 8, 2}, Case{3, 2, 4, 8, 3}, Case{4, 2, 6, 8, 4},
        Case{5, 3, 7, 10, 5}, Case{64, 32, 96, 128, 64}}) {
    EXPECT_EQ(default_load_threads(expected.cores), expected.load) << expected.cores;
    EXPECT_EQ(default_write_threads(expected.cores), expected.write) << expected.cores;
    EXPECT_EQ(max_auto_threads(expected.cores), expected.max) << expected.cores;
    EXPECT_EQ(default_cpu_lanes(expected.cores), expected.lanes) << expected.cores;
  }
}

TEST(DefaultLimit, is_that_of_the_documentation) {
  const ImageLimits limits;
  EXPECT_EQ(limits.pixels, 1 << 28);
  EXPECT_EQ(limits.side, 65535);
  EXPECT_EQ(limits.file_mb, 1024);
  EXPECT_EQ(limits.decode_mb, 2300);
  EXPECT_EQ(limits.decode_s, 20);
  EXPECT_EQ(kDefaultGpuMemoryFraction, 0.8);
  const EncodeOptions options;
  EXPECT_EQ(options.jpeg_quality, 95);
  EXPECT_EQ(options.webp_quality, kLosslessWebp);
  EXPECT_EQ(options.jpeg_subsampling, JpegSubsampling::keep);
  EXPECT_FALSE(options.jpeg_progressive);
  EXPECT_FALSE(options.jpeg_optimize);
  EXPECT_EQ(options.png, PngCompression::fast);
}

}  // namespace
}  // namespace eckart
