// Tests a full disk and a lack of file descriptors: they fail no image.
#include <array>

#include "tests/pipeline/failure_fixture.hpp"

namespace eckart::test {
namespace {

/// The steps that open files.
constexpr std::array kOpeningHooks = {&PipelineHarness::on_load, &PipelineHarness::on_write,
                                      &PipelineHarness::on_publish};

EnvironmentError lack_of_descriptors() {
  return EnvironmentError("too many open files", EnvironmentError::Remedy::release_resources);
}

TEST_F(FailingPipelineTest, stops_on_a_full_disk_and_fails_no_image) {
  for (Hook PipelineHarness::*const hook : kOpeningHooks) {
    PipelineHarness fresh;
    fresh.images = 100000;
    fresh.*hook = fails_with(full_);
    const telemetry::RunReport report = fresh.run();
    EXPECT_EQ(report.stopped_by, "no space left");
    EXPECT_TRUE(report.interrupted);
    EXPECT_EQ(report.failed, 0);
    EXPECT_LT(report.done, 90000) << "nothing new is taken in";
    EXPECT_EQ(report.done, std::int64_t(fresh.written().size()));
  }
}

TEST_F(FailingPipelineTest, publishes_outputs_written_before_the_disk_was_full) {
  harness.options.load_threads = 1;
  harness.options.write_threads = 1;
  harness.backend.slot_count = 1;
  harness.on_write = [this](int number) {
    if (number == 11) throw full_;
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(harness.written().size(), 11u);
  EXPECT_EQ(report.done, 11);
}

TEST_F(FailingPipelineTest, continues_after_a_full_disk_with_wait_for_space) {
  std::atomic<int> attempts = 0;
  harness.options.wait_for_space = true;
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_write = [&](int number) {
    if (is_chosen(number) && attempts++ < 5) throw full_;
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 20);
  EXPECT_EQ(harness.written(), numbers(20));
  EXPECT_EQ(attempts, 7);
}

TEST_F(FailingPipelineTest, says_why_it_waits_for_space) {
  std::vector<std::string> reasons;  // at each attempt to write image 3, by one thread
  harness.options.wait_for_space = true;
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_write = [&](int number) {
    if (number != 3) return;
    reasons.push_back(harness.pipeline().missing_space());
    if (reasons.size() < 3) throw full_;
  };
  EXPECT_EQ(harness.run().done, 20);
  EXPECT_EQ(reasons.front(), "");
  EXPECT_EQ(reasons.back(), "no space left");
  EXPECT_EQ(harness.pipeline().missing_space(), "");
}

/// The disk of the ledger is full; the disk of the outputs is not.
TEST_F(FailingPipelineTest, counts_a_published_but_unrecorded_image_once) {
  std::atomic<int> attempts = 0;
  harness.options.wait_for_space = true;
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_record = [&](int number) {
    if (is_chosen(number) && attempts++ < 5) throw full_;
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 20);
  EXPECT_EQ(report.outputs, 20);
  EXPECT_EQ(harness.written(), numbers(20));
  EXPECT_EQ(attempts, 7);
}

TEST_F(FailingPipelineTest, counts_published_images_when_it_ends_because_of_its_ledger) {
  harness.options.write_threads = 1;
  harness.on_record = fails_with(full_);
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "no space left");
  EXPECT_GT(report.done, 0);
  EXPECT_EQ(report.done, std::int64_t(harness.written().size()));
}

TEST_F(FailingPipelineTest, publishes_a_group_early_when_the_writer_lacks_descriptors) {
  std::atomic<int> held = 0;  // one for each image, between write and publish
  harness.options.write_threads = 1;
  harness.images = 200;
  harness.on_write = [&](int) {
    if (held == 3) throw lack_of_descriptors();
    ++held;
  };
  harness.on_publish = [&](int) { --held; };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 200);
}

TEST_F(FailingPipelineTest, waits_for_other_threads_when_a_step_lacks_descriptors) {
  for (Hook PipelineHarness::*const hook : kOpeningHooks) {
    PipelineHarness fresh;
    std::atomic<int> attempts = 0;
    fresh.options.space_poll_interval = std::chrono::milliseconds(1);
    fresh.*hook = [&](int number) {
      if (number == 7 && ++attempts < 5) throw lack_of_descriptors();
    };
    const telemetry::RunReport report = fresh.run();
    EXPECT_EQ(report.stopped_by, "");
    EXPECT_EQ(fresh.written(), numbers(20));
    EXPECT_GE(attempts, 5);
  }
}

TEST_F(FailingPipelineTest, stops_when_a_step_never_finds_a_descriptor) {
  for (Hook PipelineHarness::*const hook : kOpeningHooks) {
    PipelineHarness fresh;
    fresh.options.space_poll_interval = std::chrono::milliseconds(1);
    fresh.*hook = fails_with(lack_of_descriptors());
    EXPECT_EQ(fresh.run().stopped_by, "too many open files");
  }
}

TEST_F(FailingPipelineTest, stops_without_descriptors_after_it_has_waited_for_space) {
  std::atomic<int> attempts = 0;
  harness.options.wait_for_space = true;
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_write = [&](int number) {
    if (number != 3) return;
    if (++attempts < 20) throw full_;
    throw lack_of_descriptors();
  };
  EXPECT_EQ(harness.run().stopped_by, "too many open files");
}

TEST_F(FailingPipelineTest, waits_only_for_lack_of_space) {
  harness.options.wait_for_space = true;
  harness.on_write = fails_with(EnvironmentError("the disk is broken"));
  EXPECT_EQ(harness.run().stopped_by, "the disk is broken");
}

TEST_F(FailingPipelineTest, ends_the_wait_for_space_on_a_stop) {
  harness.options.wait_for_space = true;
  harness.options.space_poll_interval = std::chrono::hours(1);
  harness.on_write = [&](int number) {
    if (number == 3) {
      harness.pipeline().request_stop();
      throw full_;
    }
  };
  EXPECT_EQ(harness.run().stopped_by, "no space left");
}

}  // namespace
}  // namespace eckart::test
