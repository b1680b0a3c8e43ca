#include "logging/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/sanitized.hpp"

namespace eckart::logging {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

telemetry::ProgressState make_state(std::int64_t done, std::int64_t total,
                                    std::int64_t failed = 0) {
  return {.done = done, .failed = failed, .total = total, .is_total_final = true};
}

TEST(ProgressLine, ignores_skipped_images_in_rate_and_time_left) {
  const telemetry::ProgressState state{
      .done = 300, .total = 320, .is_total_final = true, .skipped = 280};
  EXPECT_THAT(progress_line(state, 2, 200),
              testing::HasSubstr("300/320 [00:02<00:02, 10.0 images/s]"));
}

TEST(ProgressLine, does_not_exceed_the_width) {
  const std::int64_t counts[] = {0, 1, 7, 999, 123456, 1'000'000'000'000, kHuge};
  const double times_s[] = {0, 1e-9, 0.5, 59.99, 3600, 1e6, 1e12, 1e300};
  const auto next = [](int width) { return width + 1 + (test::kIsSanitized ? width / 10 : 0); };
  for (int width = 0; width <= 200; width = next(width)) {
    for (const auto done : counts) {
      for (const auto total : counts) {
        for (const auto failed : {std::int64_t(0), std::int64_t(3), kHuge}) {
          for (const double elapsed_s : times_s) {
            for (const bool is_final : {false, true}) {
              const telemetry::ProgressState state{done, failed, total, is_final};
              const std::string line = progress_line(state, elapsed_s, width);
              ASSERT_LE(int(line.size()), width) << line;
              ASSERT_TRUE(width < 20 || !line.empty());
              ASSERT_EQ(line.find_first_of("\n\r\t\033"), std::string::npos);
            }
          }
        }
      }
    }
  }
}

TEST(ProgressLine, fills_the_width_with_the_bar) {
  for (int width = 70; width <= 200; ++width) {
    EXPECT_EQ(int(progress_line(make_state(4213, 10000), 12, width).size()), width);
  }
}

TEST(ProgressLine, has_the_format_of_tqdm) {
  EXPECT_EQ(progress_line(make_state(4000, 10000, 3), 12.5, 80),
            " 40%|##########...............| 4000/10000 [00:12<00:18, 320 images/s, 3 failed]");
}

TEST(ProgressLine, shows_the_bottleneck_in_80_columns) {
  telemetry::ProgressState state = make_state(4213, 10000, 3);
  state.bottleneck = "write 97 % busy";
  EXPECT_EQ(progress_line(state, 12, 79),
            " 42%|##.....| 4213/10000 [00:12<00:16, 351 images/s, write 97 % busy, 3 failed]");
}

TEST(ProgressLine, shows_the_step_of_an_image_that_takes_long) {
  telemetry::ProgressState state = make_state(0, 1, 0);
  state.bottleneck = "compute 99 % busy";
  state.activity = "compute for 12 s";
  EXPECT_EQ(progress_line(state, 15, 79),
            "  0%|.............................| 0/1 [00:15<?, 0 images/s, compute for 12 s]");
}

TEST(ProgressLine, drops_count_and_failures_last_when_narrow) {
  EXPECT_EQ(progress_line(make_state(4000, 10000, 3), 12.5, 60),
            " 40% 4000/10000 [00:12<00:18, 320 images/s, 3 failed]");
  EXPECT_EQ(progress_line(make_state(4000, 10000, 3), 12.5, 50),
            " 40% 4000/10000 [00:12<00:18, 3 failed]");
  EXPECT_EQ(progress_line(make_state(4000, 10000, 3), 12.5, 30), " 40% 4000/10000, 3 failed");
  EXPECT_EQ(progress_line(make_state(4000, 10000, 3), 12.5, 20), " 40% 4000/10000");
}

TEST(ProgressLine, shows_count_and_rate_while_the_total_is_unknown) {
  const std::string line = progress_line({.done = 50, .total = 80}, 10, 80);
  EXPECT_EQ(line, "50 of 80+ images [00:10, 5.00 images/s]");
  EXPECT_EQ(progress_line({}, 0, 80), "0 images [00:00, 0 images/s]");
  EXPECT_THAT(progress_line(make_state(0, 0), 1, 80), StartsWith("0 images"));
}

TEST(ProgressLine, shows_100_percent_only_when_all_are_done) {
  EXPECT_THAT(progress_line(make_state(9'999'999, 10'000'000), 10, 80), StartsWith(" 99%"));
  EXPECT_THAT(progress_line(make_state(kHuge - 1, kHuge), 10, 120), StartsWith(" 99%"));
  EXPECT_THAT(progress_line(make_state(10, 10), 10, 80), StartsWith("100%|###"));
  EXPECT_THAT(progress_line(make_state(10, 10), 10, 80), Not(HasSubstr(".|")));
}

TEST(ProgressLine, shows_the_time_left_at_the_average_rate) {
  EXPECT_THAT(progress_line(make_state(1, 4), 20, 80), HasSubstr("[00:20<01:00,"));
  EXPECT_THAT(progress_line(make_state(10, 10), 20, 80), HasSubstr("[00:20<00:00,"));
  EXPECT_THAT(progress_line(make_state(1, 1001), 10, 80), HasSubstr("<2:46:40,"));
  EXPECT_THAT(progress_line(make_state(1, 100001), 10, 80), HasSubstr("<11d13h,"));
  EXPECT_THAT(progress_line(make_state(1, kHuge), 10, 120), HasSubstr("<>999d,"));
}

TEST(ProgressLine, shows_unknown_time_left_before_the_first_image) {
  EXPECT_THAT(progress_line(make_state(0, 100), 5, 80), HasSubstr("[00:05<?, 0 images/s]"));
  EXPECT_THAT(progress_line(make_state(0, 100), 0, 80), HasSubstr("[00:00<?, 0 images/s]"));
}

TEST(ProgressLine, shows_a_slow_rate_as_seconds_per_image) {
  EXPECT_THAT(progress_line(make_state(4, 100), 10, 80), HasSubstr("2.50 s/image"));
  EXPECT_THAT(progress_line(make_state(40000, 100000), 10, 80), HasSubstr("4,000 images/s"));
}

}  // namespace
}  // namespace eckart::logging
