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

class PipelineFailure : public ::testing::Test {
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

TEST_F(PipelineFailure, a_decoder_that_refuses_costs_its_image) {
  harness.on_load = fails_with(ItemError(FailureReason::corrupt, "broken"));
  expect_only_the_chosen_fail(FailureReason::corrupt);
}

TEST_F(PipelineFailure, an_unexpected_decoder_error_costs_its_image) {
  harness.on_load = fails_with(std::runtime_error("what now"));
  expect_only_the_chosen_fail(FailureReason::internal);
}

TEST_F(PipelineFailure, a_full_disk_stops_the_run_and_fails_no_image) {
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

TEST_F(PipelineFailure, outputs_written_before_a_full_disk_are_published) {
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

TEST_F(PipelineFailure, wait_for_space_waits_out_a_full_disk) {
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
TEST_F(PipelineFailure, an_unrecorded_published_image_counts_once) {
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

TEST_F(PipelineFailure, a_run_that_ends_at_its_ledger_counts_what_is_published) {
  harness.options.write_threads = 1;
  harness.on_record = fails_with(full_);
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.stopped_by, "no space left");
  EXPECT_GT(report.done, 0);
  EXPECT_EQ(report.done, std::int64_t(harness.written().size()));
}

TEST_F(PipelineFailure, a_writer_without_descriptors_publishes_its_group_first) {
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

TEST_F(PipelineFailure, a_loader_without_descriptors_waits_for_the_writers) {
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

TEST_F(PipelineFailure, a_loader_that_never_finds_a_descriptor_stops_the_run) {
  harness.options.space_poll_interval = std::chrono::milliseconds(1);
  harness.on_load = fails_with(
      EnvironmentError("too many open files", EnvironmentError::Remedy::release_resources));
  EXPECT_EQ(harness.run().stopped_by, "too many open files");
}

TEST_F(PipelineFailure, only_lack_of_space_is_waited_out) {
  harness.options.wait_for_space = true;
  harness.on_write = fails_with(EnvironmentError("the disk is broken"));
  EXPECT_EQ(harness.run().stopped_by, "the disk is broken");
}

TEST_F(PipelineFailure, a_stop_ends_the_wait_for_space) {
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

TEST_F(PipelineFailure, a_decoder_without_memory_costs_its_image) {
  harness.on_reserved = fails_with(std::bad_alloc());
  expect_only_the_chosen_fail(FailureReason::out_of_memory);
}

TEST_F(PipelineFailure, a_thrown_non_exception_ends_the_run) {
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

TEST_F(PipelineFailure, a_source_that_throws_ends_the_run) {
  harness.on_next = fails_with(FatalError(ExitCode::no_input, "the list broke off"));
  expect_fatal(ExitCode::no_input);
}

TEST_F(PipelineFailure, a_source_that_throws_something_else_ends_the_run_with_it) {
  harness.on_next = fails_with(std::logic_error("a bug"));
  EXPECT_THROW(harness.run(), std::logic_error);
}

TEST_F(PipelineFailure, a_backend_that_cannot_be_made_ends_the_run) {
  harness.images = 100000;
  harness.make_backend = []() -> Backend& { throw FatalError(ExitCode::unavailable, "no GPU"); };
  expect_fatal(ExitCode::unavailable);
}

TEST_F(PipelineFailure, a_lane_that_cannot_be_made_ends_the_run) {
  harness.images = 100000;
  harness.backend.lane_count = 3;
  harness.backend.on_make_lane = [&](int lane) {
    if (lane == 1) throw lost_;
  };
  expect_fatal(ExitCode::temporary);
}

TEST_F(PipelineFailure, a_batch_that_does_not_start_or_finish_costs_its_images) {
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

TEST_F(PipelineFailure, a_failed_batch_costs_all_of_its_images) {
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

TEST_F(PipelineFailure, an_image_that_does_not_converge_leaves_its_batch_alone) {
  harness.backend.planes = 5;
  harness.backend.error_of = [](int number) { return is_chosen(number) ? "no convergence" : ""; };
  expect_only_the_chosen_fail(FailureReason::not_converged);
}

TEST_F(PipelineFailure, an_image_fails_for_the_reason_that_the_backend_gives) {
  harness.backend.error_of = [](int number) { return is_chosen(number) ? "no memory" : ""; };
  harness.backend.reason = FailureReason::out_of_memory;
  expect_only_the_chosen_fail(FailureReason::out_of_memory);
}

TEST_F(PipelineFailure, a_lost_backend_ends_the_run) {
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

TEST_F(PipelineFailure, a_source_that_waits_does_not_outlast_the_run) {
  harness.source_waits_at_end = true;
  harness.backend.on_start = fails_with(lost_);
  expect_fatal(ExitCode::temporary);
}

TEST_F(PipelineFailure, images_finished_before_device_loss_are_written) {
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

TEST_F(PipelineFailure, a_loader_that_waits_for_all_of_the_budget_does_not_outlast_the_run) {
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

TEST_F(PipelineFailure, an_output_that_cannot_be_written_costs_its_image) {
  harness.on_write = fails_with(ItemError(FailureReason::not_written, "disk full"));
  expect_only_the_chosen_fail(FailureReason::not_written);
}

TEST_F(PipelineFailure, a_failing_writer_ends_the_run_while_others_wait) {
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
