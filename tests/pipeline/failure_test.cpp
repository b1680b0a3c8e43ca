// Tests exceptions in each stage: an ItemError fails one image; a FatalError ends the run with its
// exit code.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <new>
#include <stdexcept>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

bool is_chosen(int number) { return number == 3 || number == 11; }

std::int64_t failures(const telemetry::RunReport& report, FailureReason reason) {
  return report.failures[std::size_t(reason)];
}

template <class Error>
Hook fails_with(Error error) {
  return [error](int number) {
    if (is_chosen(number)) throw error;
  };
}

class FailingPipelineTest : public ::testing::Test {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }
  void TearDown() override { spdlog::set_level(spdlog::level::info); }

  /// Expects that only the chosen images failed, for this reason.
  void expect_only_the_chosen_fail(FailureReason reason) {
    const telemetry::RunReport report = harness.run();
    EXPECT_EQ(failures(report, reason), 2) << to_string(reason);
    EXPECT_EQ(report.failed, 2);
    EXPECT_EQ(report.done, 18);
    EXPECT_EQ(harness.written(), numbers(20, is_chosen));
  }

  /// Expects that run() throws FatalError with this code.
  void expect_fatal(ExitCode code) {
    try {
      harness.run();
      FAIL() << "the run did not fail";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
    }
  }

  PipelineHarness harness;
  const EnvironmentError full_{"no space left", EnvironmentError::Remedy::free_disk_space};
  const FatalError lost_{ExitCode::temporary, "the GPU is lost"};
};

TEST_F(FailingPipelineTest, loses_only_the_image_that_the_decoder_refuses) {
  harness.on_load = fails_with(ItemError(FailureReason::corrupt, "broken"));
  expect_only_the_chosen_fail(FailureReason::corrupt);
}

TEST_F(FailingPipelineTest, loses_only_the_image_with_an_unexpected_decoder_error) {
  harness.on_load = fails_with(std::runtime_error("what now"));
  expect_only_the_chosen_fail(FailureReason::internal);
}

TEST_F(FailingPipelineTest, stops_on_a_full_disk_and_fails_no_image) {
  for (Hook PipelineHarness::*const hook :
       {&PipelineHarness::on_load, &PipelineHarness::on_write, &PipelineHarness::on_publish}) {
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
    if (held == 3)
      throw EnvironmentError("too many open files", EnvironmentError::Remedy::release_resources);
    ++held;
  };
  harness.on_publish = [&](int) { --held; };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 200);
}

TEST_F(FailingPipelineTest, waits_for_writers_when_a_loader_lacks_descriptors) {
  std::atomic<int> attempts = 0;
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_load = [&](int number) {
    if (number == 7 && ++attempts < 5)
      throw EnvironmentError("too many open files", EnvironmentError::Remedy::release_resources);
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(harness.written(), numbers(20));
}

TEST_F(FailingPipelineTest, stops_when_a_loader_never_finds_a_descriptor) {
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_load = fails_with(
      EnvironmentError("too many open files", EnvironmentError::Remedy::release_resources));
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

TEST_F(FailingPipelineTest, loses_only_the_image_for_which_the_decoder_lacks_memory) {
  harness.on_reserved = fails_with(std::bad_alloc());
  expect_only_the_chosen_fail(FailureReason::out_of_memory);
}

TEST_F(FailingPipelineTest, ends_when_a_non_exception_is_thrown) {
  for (Hook PipelineHarness::*const hook :
       {&PipelineHarness::on_next, &PipelineHarness::on_load, &PipelineHarness::on_reserved,
        &PipelineHarness::on_write}) {
    PipelineHarness fresh;
    fresh.*hook = fails_with(42);
    EXPECT_THROW(fresh.run(), int);
  }
  for (Hook FakeBackend::*const hook : {&FakeBackend::on_start, &FakeBackend::on_finish}) {
    PipelineHarness fresh;
    fresh.backend.*hook = fails_with(42);
    EXPECT_THROW(fresh.run(), int);
  }
}

TEST_F(FailingPipelineTest, ends_when_the_source_throws_a_fatal_error) {
  harness.on_next = fails_with(FatalError(ExitCode::no_input, "the list broke off"));
  expect_fatal(ExitCode::no_input);
}

TEST_F(FailingPipelineTest, ends_with_any_other_exception_of_the_source) {
  harness.on_next = fails_with(std::logic_error("a bug"));
  EXPECT_THROW(harness.run(), std::logic_error);
}

TEST_F(FailingPipelineTest, ends_when_the_backend_cannot_be_created) {
  harness.images = 100000;
  harness.make_backend = []() -> compute::Backend& {
    throw FatalError(ExitCode::unavailable, "no GPU");
  };
  expect_fatal(ExitCode::unavailable);
}

TEST_F(FailingPipelineTest, ends_when_a_lane_cannot_be_created) {
  harness.images = 100000;
  harness.backend.lane_count = 3;
  harness.backend.on_make_lane = [&](int lane) {
    if (lane == 1) throw lost_;
  };
  expect_fatal(ExitCode::temporary);
}

TEST_F(FailingPipelineTest, loses_only_the_images_of_a_batch_that_does_not_start_or_finish) {
  for (Hook FakeBackend::*const hook : {&FakeBackend::on_start, &FakeBackend::on_finish}) {
    for (const int slots : {1, 2}) {
      PipelineHarness fresh;
      fresh.backend.slot_count = slots;
      fresh.backend.*hook = fails_with(std::runtime_error("out of device memory"));
      const telemetry::RunReport report = fresh.run();
      EXPECT_EQ(failures(report, FailureReason::compute_failed), 2);
      EXPECT_EQ(fresh.written(), numbers(20, is_chosen));
    }
  }
}

TEST_F(FailingPipelineTest, loses_all_images_of_a_failed_batch) {
  harness.options.load_threads = 1;
  harness.on_load = [&](int number) {  // otherwise the first images may form a batch of their own
    if (number == 0) wait_until([&] { return harness.pipeline().progress().total == 20; });
  };
  harness.options.linger = std::chrono::hours(1);
  harness.backend.planes = 10;
  harness.backend.on_finish = [](int number) {
    if (number == 3) throw std::runtime_error("out of device memory");
  };
  EXPECT_EQ(failures(harness.run(), FailureReason::compute_failed), 10);
  EXPECT_EQ(harness.written(), numbers(20, [](int number) { return number < 10; }));
}

TEST_F(FailingPipelineTest, loses_only_the_image_that_does_not_converge) {
  harness.backend.planes = 5;
  harness.backend.error_of = [](int number) { return is_chosen(number) ? "no convergence" : ""; };
  expect_only_the_chosen_fail(FailureReason::not_converged);
}

TEST_F(FailingPipelineTest, reports_the_reason_that_the_backend_gives_for_an_image) {
  harness.backend.error_of = [](int number) { return is_chosen(number) ? "no memory" : ""; };
  harness.backend.reason = FailureReason::out_of_memory;
  expect_only_the_chosen_fail(FailureReason::out_of_memory);
}

TEST_F(FailingPipelineTest, ends_when_the_backend_is_lost) {
  for (Hook FakeBackend::*const hook : {&FakeBackend::on_start, &FakeBackend::on_finish}) {
    PipelineHarness fresh;
    fresh.images = 100000;
    fresh.backend.lane_count = 2;
    fresh.backend.*hook = fails_with(lost_);
    try {
      fresh.run();
      FAIL() << "the run did not fail";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::temporary);
    }
  }
}

TEST_F(FailingPipelineTest, ends_while_the_source_waits) {
  harness.source_waits_at_end = true;
  harness.backend.on_start = fails_with(lost_);
  expect_fatal(ExitCode::temporary);
}

TEST_F(FailingPipelineTest, writes_images_finished_before_device_loss) {
  harness.source_waits_at_end = true;
  harness.options.load_threads = 1;
  harness.backend.slot_count = 1;
  harness.backend.on_start = [&](int number) {
    if (number >= 10) throw lost_;
  };
  harness.on_write = [&](int number) {
    if (number == 0)
      wait_until([&] { return harness.is_source_stopped(); });  // stopped by the abort
  };
  harness.options.write_threads = 1;
  expect_fatal(ExitCode::temporary);
  EXPECT_EQ(harness.written(), numbers(10));
}

TEST_F(FailingPipelineTest, ends_while_a_loader_waits_for_all_of_the_budget) {
  constexpr int kFit = 8;
  harness.options.load_threads = 1;
  harness.options.budget_bytes = std::size_t(kFit) * 2 * kSmall.bytes();
  harness.shape_of = [](int number) {
    return number < kFit ? kSmall : ImageShape{99, 99, 3, Depth::u16};
  };
  std::atomic<int> asked = 0;
  harness.on_load = [&](int) { ++asked; };
  harness.backend.on_start = [&](int) {
    wait_until([&] { return asked > kFit; });
    throw lost_;
  };
  expect_fatal(ExitCode::temporary);
}

TEST_F(FailingPipelineTest, loses_only_the_image_whose_output_cannot_be_written) {
  harness.on_write = fails_with(ItemError(FailureReason::not_written, "disk full"));
  expect_only_the_chosen_fail(FailureReason::not_written);
}

TEST_F(FailingPipelineTest, ends_when_a_writer_fails_while_others_wait) {
  for (const int writers : {1, 3}) {
    PipelineHarness fresh;
    fresh.images = 100000;
    fresh.options.budget_bytes = 8 * kSmall.bytes();
    fresh.options.write_threads = writers;
    fresh.on_write = [](int) { throw FatalError(ExitCode::io_error, "the disk is gone"); };
    try {
      fresh.run();
      FAIL() << "the run did not fail";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::io_error);
    }
  }
}

}  // namespace
}  // namespace eckart::test
