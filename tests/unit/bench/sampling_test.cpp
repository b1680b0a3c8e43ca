#include "bench/report/sampling.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace eckart::bench {
namespace {

using Times = std::vector<std::vector<double>>;

/// A clock that moves only when a work says so.
struct FakeTime {
  double now = 100;
  SamplingOptions options() {
    return {.max_work_seconds = 10, .warm_up_seconds = 0, .repeat_below_seconds = 0, .now = [this] {
              return now;
            }};
  }
  TimedWork work(double seconds) {
    return [this, seconds] {
      now += seconds;
      return std::vector{seconds};
    };
  }
};

TEST(Sampling, returns_the_times_of_each_work) {
  FakeTime time;
  const auto samples = sample_in_rounds({time.work(0.001), time.work(0.002)}, time.options());
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].times, Times(1, std::vector<double>(10, 0.001)));
  EXPECT_EQ(samples[1].times, Times(1, std::vector<double>(10, 0.002)));
}

TEST(MeasuredTimes, has_the_samples_of_all_passes) {
  MeasuredTimes times;
  times.add({.times = {}, .first_call_s = 7}, 0);
  EXPECT_FALSE(times.is_measured());
  times.add({.times = {{1, 2}, {5, 6}}, .first_call_s = 8}, 0);
  times.add({.times = {{3}, {7}}, .first_call_s = 9}, 1);
  EXPECT_TRUE(times.is_measured());
  EXPECT_EQ(times.passes, (std::vector<Passes>{{{1, 2}, {3}}, {{5, 6}, {7}}}));
  EXPECT_EQ(times.time(1).median, 6);
  EXPECT_EQ(times.first_call_s, 7);
}

TEST(MeasuredTimes, compares_with_others_in_the_same_pass_if_it_missed_one) {
  MeasuredTimes slow, fast;
  for (const std::size_t pass : {0, 1, 2}) {
    const auto seconds = double(pass + 1);  // each pass is slower
    slow.add({.times = {{4 * seconds}}}, pass);
    if (pass != 1) fast.add({.times = {{2 * seconds}}}, pass);
  }
  const Estimate speedup = ratio(slow.passes[0], fast.passes[0]);
  EXPECT_EQ(speedup.samples, 2);
  EXPECT_EQ(speedup.low, 2);
  EXPECT_EQ(speedup.high, 2);
}

TEST(Sampling, keeps_several_times_of_a_call_apart) {
  const auto samples = sample_in_rounds({[] {
                                          return std::vector{1.0, 2.0};
                                        }},
                                        FakeTime().options());
  ASSERT_EQ(samples[0].times.size(), 2U);
  EXPECT_EQ(samples[0].times[1], std::vector<double>(10, 2.0));
}

TEST(Sampling, takes_one_sample_of_each_work_in_a_round) {
  std::string order;
  FakeTime time;
  const auto append = [&](char c) {
    return [&, c] {
      order += c;
      return std::vector{1.0};
    };
  };
  SamplingOptions options = time.options();
  options.min_rounds = 3;
  sample_in_rounds({append('a'), append('b')}, options);
  EXPECT_EQ(order.substr(0, 4), "aabb");  // two calls each to warm up
  ASSERT_EQ(order.size(), 10U);
  for (std::size_t round = 4; round < 10; round += 2)
    EXPECT_NE(order[round], order[round + 1]) << order;
}

TEST(Sampling, does_not_count_the_calls_that_warm_up) {
  FakeTime time;
  int calls = 0;
  SamplingOptions options = time.options();
  options.warm_up_seconds = 0.05;
  const auto samples = sample_in_rounds({[&] {
                                          time.now += 0.01;
                                          return std::vector{++calls <= 5 ? 9.0 : 1.0};
                                        }},
                                        options);
  EXPECT_EQ(samples[0].times[0], std::vector<double>(10, 1.0));
}

TEST(Sampling, warms_up_long_work_by_one_call_if_told_so) {
  FakeTime time;
  SamplingOptions options = time.options();
  options.one_warm_up_above_seconds = 0.02;
  for (const auto& [seconds, warm_ups] : {std::pair{0.01, 2}, {0.03, 1}}) {
    int calls = 0;
    const auto samples = sample_in_rounds({[&, seconds = seconds, warm_ups = warm_ups] {
                                            time.now += seconds;
                                            return std::vector{++calls <= warm_ups ? 9.0 : 1.0};
                                          }},
                                          options);
    EXPECT_EQ(samples[0].times[0], std::vector<double>(10, 1.0)) << seconds;
    EXPECT_EQ(calls, warm_ups + 10);
  }
}

TEST(Sampling, repeats_short_work_before_each_sample) {
  FakeTime time;
  SamplingOptions options = time.options();
  options.repeat_below_seconds = 0.01;
  int short_calls = 0, long_calls = 0;
  sample_in_rounds({[&] {
                      ++short_calls;
                      time.now += 0.009;
                      return std::vector{1.0};
                    },
                    [&] {
                      ++long_calls;
                      time.now += 0.011;
                      return std::vector{1.0};
                    }},
                   options);
  EXPECT_EQ(short_calls, 2 + 2 * 10);
  EXPECT_EQ(long_calls, 2 + 10);
}

TEST(Sampling, waits_before_each_sample) {
  FakeTime time;
  SamplingOptions options = time.options();
  std::string order;
  options.before_work = [&] { order += '.'; };
  options.min_rounds = 2;
  sample_in_rounds({[&] {
                     order += 'a';
                     return std::vector{1.0};
                   }},
                   options);
  EXPECT_EQ(order, ".aa.a.a");
}

TEST(Sampling, leaves_out_work_that_takes_too_long) {
  FakeTime time;
  int slow_calls = 0;
  const auto samples = sample_in_rounds({[&] {
                                           ++slow_calls;
                                           time.now += 60;
                                           return std::vector{60.0};
                                         },
                                         time.work(0.001)},
                                        time.options());
  EXPECT_FALSE(samples[0].is_measured());
  EXPECT_EQ(samples[0].first_call_s, 60);
  EXPECT_EQ(slow_calls, 1);
  EXPECT_TRUE(samples[1].is_measured());
}

/// Returns 1, 2, 1, 2 ...
TimedWork uneven(FakeTime& time, double seconds) {
  return [&time, seconds, is_odd = false]() mutable {
    time.now += seconds;
    is_odd = !is_odd;
    return std::vector{is_odd ? 1.0 : 2.0};
  };
}

TEST(Sampling, ends_when_the_time_is_over) {
  FakeTime time;
  SamplingOptions options = time.options();
  options.max_seconds = 2;
  const auto samples = sample_in_rounds({uneven(time, 0.125)}, options);
  EXPECT_EQ(samples[0].times[0].size(), 16U);
}

TEST(Sampling, ends_after_the_largest_number_of_rounds) {
  FakeTime time;
  SamplingOptions options = time.options();
  options.max_rounds = 17;
  const auto samples = sample_in_rounds({uneven(time, 0.1)}, options);
  EXPECT_EQ(samples[0].times[0].size(), 17U);
}

TEST(Sampling, takes_the_fewest_rounds_even_if_the_time_is_over) {
  FakeTime time;
  SamplingOptions options = time.options();
  options.max_seconds = 0.1;
  const auto samples = sample_in_rounds({uneven(time, 0.9)}, options);
  EXPECT_EQ(samples[0].times[0].size(), 10U);
}

TEST(Sampling, returns_early_after_a_stop_request) {
  FakeTime time;
  std::stop_source stop;
  SamplingOptions options = time.options();
  options.stop = stop.get_token();
  int calls = 0;
  const auto samples = sample_in_rounds({[&] {
                                          if (++calls == 5) stop.request_stop();
                                          return std::vector{1.0};
                                        }},
                                        options);
  EXPECT_EQ(samples[0].times[0].size(), 3U);
}

TEST(Sampling, rethrows_what_a_work_throws) {
  EXPECT_THROW(sample_in_rounds({[]() -> std::vector<double> { throw std::runtime_error("lost"); }},
                                FakeTime().options()),
               std::runtime_error);
}

}  // namespace
}  // namespace eckart::bench
