// Delays threads at random, with many seeds and thread counts. In every order, each image is
// written exactly once.
#include "tests/support/random_delay.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <stdexcept>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

constexpr int kImages = 100;

struct ThreadCounts {
  int load, write, lanes, slots, planes;
};
constexpr ThreadCounts kThreads[] = {
    {1, 1, 1, 1, 1}, {1, 1, 1, 2, 4}, {2, 1, 2, 2, 1}, {4, 3, 3, 2, 5}, {1, 4, 2, 1, 3}};
constexpr int kSeeds = 10;

void set_up(PipelineHarness& harness, const ThreadCounts& threads, const RandomDelay& delay) {
  harness.images = kImages;
  harness.options.load_threads = threads.load;
  harness.options.write_threads = threads.write;
  harness.options.budget_bytes = 40 * kSmall.bytes();
  harness.backend.lane_count = threads.lanes;
  harness.backend.slot_count = threads.slots;
  harness.backend.planes = threads.planes;
  harness.on_next = [&](int number) { delay(number, 0); };
  harness.on_load = [&](int number) { delay(number, 1); };
  harness.backend.on_start = [&](int number) { delay(number, 2); };
  harness.backend.on_finish = [&](int number) { delay(number, 3); };
  harness.on_write = [&](int number) { delay(number, 4); };
}

class PipelineWithDelaysTest : public ::testing::TestWithParam<ThreadCounts> {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }
  void TearDown() override { spdlog::set_level(spdlog::level::info); }
};

TEST_P(PipelineWithDelaysTest, writes_every_image_once) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const RandomDelay delay{std::uint64_t(seed)};
    PipelineHarness harness;
    set_up(harness, GetParam(), delay);
    const telemetry::RunReport report = harness.run();
    ASSERT_EQ(report.done, kImages) << "seed " << seed;
    ASSERT_EQ(harness.written(), numbers(kImages)) << "seed " << seed;
  }
}

TEST_P(PipelineWithDelaysTest, counts_every_image_when_images_fail_in_several_stages) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const RandomDelay delay{std::uint64_t(seed)};
    PipelineHarness harness;
    set_up(harness, GetParam(), delay);
    harness.on_reserved = [](int number) {
      if (number % 7 == 1) throw ItemError(FailureReason::corrupt, "broken");
    };
    harness.backend.error_of = [](int number) { return number % 7 == 2 ? "no convergence" : ""; };
    harness.on_write = [&](int number) {
      delay(number, 4);
      if (number % 7 == 3) throw ItemError(FailureReason::not_written, "disk full");
    };
    const telemetry::RunReport report = harness.run();
    const auto fails = [](int number) { return number % 7 >= 1 && number % 7 <= 3; };
    ASSERT_EQ(harness.written(), numbers(kImages, fails)) << "seed " << seed;
    ASSERT_EQ(report.done, std::int64_t(harness.written().size()));
    ASSERT_EQ(report.images(), kImages);
  }
}

TEST_P(PipelineWithDelaysTest, loses_nothing_after_a_stop) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const RandomDelay delay{std::uint64_t(seed)};
    PipelineHarness harness;
    set_up(harness, GetParam(), delay);
    harness.on_write = [&](int number) {
      delay(number, 4);
      if (number == 5 * seed) harness.pipeline().request_stop();
    };
    const telemetry::RunReport report = harness.run();
    ASSERT_EQ(harness.written(), harness.backend.started()) << "seed " << seed;
    ASSERT_EQ(report.done, std::int64_t(harness.written().size())) << "seed " << seed;
  }
}

TEST_P(PipelineWithDelaysTest, ends_when_the_backend_is_lost) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const RandomDelay delay{std::uint64_t(seed)};
    PipelineHarness harness;
    set_up(harness, GetParam(), delay);
    harness.backend.on_finish = [&](int number) {
      delay(number, 3);
      if (number == 10 * seed) throw FatalError(ExitCode::temporary, "the GPU is lost");
    };
    ASSERT_THROW(harness.run(), FatalError) << "seed " << seed;
  }
}

std::string name_of(const ::testing::TestParamInfo<ThreadCounts>& info) {
  const ThreadCounts& threads = info.param;
  return "load" + std::to_string(threads.load) + "_write" + std::to_string(threads.write) +
         "_lanes" + std::to_string(threads.lanes) + "_slots" + std::to_string(threads.slots) +
         "_planes" + std::to_string(threads.planes);
}
INSTANTIATE_TEST_SUITE_P(ThreadCounts, PipelineWithDelaysTest, ::testing::ValuesIn(kThreads),
                         name_of);

}  // namespace
}  // namespace eckart::test
