// Threads are held up at random, over many seeds and thread counts: whatever the order, every image
// comes out once.
#include "tests/support/stall.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <stdexcept>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

constexpr int kImages = 100;

struct Threads {
  int load, write, lanes, slots, planes;
};
constexpr Threads kThreads[] = {
    {1, 1, 1, 1, 1}, {1, 1, 1, 2, 4}, {2, 1, 2, 2, 1}, {4, 3, 3, 2, 5}, {1, 4, 2, 1, 3}};
constexpr int kSeeds = 10;

void set_up(Rig& rig, const Threads& threads, const Stall& stall) {
  rig.images = kImages;
  rig.options.load_threads = threads.load;
  rig.options.write_threads = threads.write;
  rig.options.budget_bytes = 40 * kSmall.bytes();
  rig.backend.lane_count = threads.lanes;
  rig.backend.slot_count = threads.slots;
  rig.backend.planes = threads.planes;
  rig.on_next = [&](int number) { stall(number, 0); };
  rig.on_load = [&](int number) { stall(number, 1); };
  rig.backend.on_start = [&](int number) { stall(number, 2); };
  rig.backend.on_finish = [&](int number) { stall(number, 3); };
  rig.on_write = [&](int number) { stall(number, 4); };
}

class PipelineUnderStalls : public ::testing::TestWithParam<Threads> {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }
  void TearDown() override { spdlog::set_level(spdlog::level::info); }
};

TEST_P(PipelineUnderStalls, every_image_comes_out_once) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Stall stall{std::uint64_t(seed)};
    Rig rig;
    set_up(rig, GetParam(), stall);
    const telemetry::RunReport report = rig.run();
    ASSERT_EQ(report.done, kImages) << "seed " << seed;
    ASSERT_EQ(rig.written(), numbers(kImages)) << "seed " << seed;
  }
}

TEST_P(PipelineUnderStalls, counts_add_up_when_images_fail_everywhere) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Stall stall{std::uint64_t(seed)};
    Rig rig;
    set_up(rig, GetParam(), stall);
    rig.on_reserved = [](int number) {
      if (number % 7 == 1) throw ItemError(Reason::corrupt, "broken");
    };
    rig.backend.verdict = [](int number) { return number % 7 == 2 ? "no convergence" : ""; };
    rig.on_write = [&](int number) {
      stall(number, 4);
      if (number % 7 == 3) throw ItemError(Reason::not_written, "disk full");
    };
    const telemetry::RunReport report = rig.run();
    const auto fails = [](int number) { return number % 7 >= 1 && number % 7 <= 3; };
    ASSERT_EQ(rig.written(), numbers(kImages, fails)) << "seed " << seed;
    ASSERT_EQ(report.done, std::int64_t(rig.written().size()));
    ASSERT_EQ(report.images(), kImages);
  }
}

TEST_P(PipelineUnderStalls, a_stop_loses_nothing) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Stall stall{std::uint64_t(seed)};
    Rig rig;
    set_up(rig, GetParam(), stall);
    rig.on_write = [&](int number) {
      stall(number, 4);
      if (number == 5 * seed) rig.pipeline().request_stop();
    };
    const telemetry::RunReport report = rig.run();
    ASSERT_EQ(rig.written(), rig.backend.started()) << "seed " << seed;
    ASSERT_EQ(report.done, std::int64_t(rig.written().size())) << "seed " << seed;
  }
}

TEST_P(PipelineUnderStalls, a_lost_backend_ends_the_run) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Stall stall{std::uint64_t(seed)};
    Rig rig;
    set_up(rig, GetParam(), stall);
    rig.backend.on_finish = [&](int number) {
      stall(number, 3);
      if (number == 10 * seed) throw FatalError(ExitCode::temporary, "the GPU is lost");
    };
    ASSERT_THROW(rig.run(), FatalError) << "seed " << seed;
  }
}

std::string name_of(const ::testing::TestParamInfo<Threads>& info) {
  const Threads& threads = info.param;
  return "load" + std::to_string(threads.load) + "_write" + std::to_string(threads.write) +
         "_lanes" + std::to_string(threads.lanes) + "_slots" + std::to_string(threads.slots) +
         "_planes" + std::to_string(threads.planes);
}
INSTANTIATE_TEST_SUITE_P(Threads, PipelineUnderStalls, ::testing::ValuesIn(kThreads), name_of);

}  // namespace
}  // namespace eckart::test
