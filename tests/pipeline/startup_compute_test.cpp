// What is computed while the backend is created.
#include <atomic>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

class StartupComputeTest : public testing::Test {
 protected:
  StartupComputeTest() {
    harness_.images = 300;  // more than the queue of loaded images has room for
    harness_.startup_backend = &startup_;
    startup_.lane_count = 2;
    startup_.slot_count = 1;
  }

  FakeBackend startup_;
  PipelineHarness harness_;
};

TEST_F(StartupComputeTest, computes_images_until_the_backend_is_created) {
  harness_.make_backend = [&]() -> compute::Backend& {
    wait_until([&] { return startup_.started().size() >= 5; });
    return harness_.backend;
  };
  const telemetry::RunReport report = harness_.run();
  EXPECT_EQ(harness_.written(), numbers(300));
  EXPECT_EQ(report.backend, "fake");
  EXPECT_GE(report.startup_images, 5);
  EXPECT_EQ(report.startup_images, std::int64_t(startup_.started().size()));
  EXPECT_EQ(startup_.started().size() + harness_.backend.started().size(), 300U);
}

TEST_F(StartupComputeTest, takes_at_most_one_more_image_afterwards) {
  harness_.on_load = [&](int) { wait_until([&] { return harness_.pipeline().backend(); }); };
  EXPECT_LE(harness_.run().startup_images, 1);
  EXPECT_EQ(harness_.written(), numbers(300));
}

TEST_F(StartupComputeTest, may_compute_all_images) {
  harness_.images = 4;
  harness_.make_backend = [&]() -> compute::Backend& {
    wait_until([&] { return startup_.started().size() == 4; });
    return harness_.backend;
  };
  EXPECT_EQ(harness_.run().startup_images, 4);
  EXPECT_EQ(harness_.written(), numbers(4));
}

TEST_F(StartupComputeTest, ends_with_the_run_if_the_backend_cannot_be_created) {
  harness_.make_backend = [&]() -> compute::Backend& {
    wait_until([&] { return !startup_.started().empty(); });
    throw FatalError(ExitCode::unavailable, "no GPU");
  };
  EXPECT_THROW(harness_.run(), FatalError);
}

TEST_F(StartupComputeTest, ends_the_run_if_it_fails) {
  startup_.on_make_lane = [](int) { throw FatalError(ExitCode::temporary, "no memory"); };
  EXPECT_THROW(harness_.run(), FatalError);
}

TEST_F(StartupComputeTest, ends_when_the_run_is_stopped) {
  harness_.source_waits_at_end = true;
  harness_.make_backend = [&]() -> compute::Backend& {
    wait_until([&] { return startup_.started().size() >= 5; });
    harness_.pipeline().request_stop();
    return harness_.backend;
  };
  EXPECT_TRUE(harness_.run().interrupted);
}

}  // namespace
}  // namespace eckart::test
