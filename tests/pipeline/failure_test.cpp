// Tests exceptions in each stage: an ItemError fails one image; a FatalError ends the run with its
// exit code.
#include <new>
#include <stdexcept>

#include "tests/pipeline/failure_fixture.hpp"

namespace eckart::test {
namespace {

TEST_F(FailingPipelineTest, loses_only_the_image_that_the_decoder_refuses) {
  harness.on_load = fails_with(ItemError(FailureReason::corrupt, "broken"));
  expect_only_the_chosen_fail(FailureReason::corrupt);
}

TEST_F(FailingPipelineTest, loses_only_the_image_with_an_unexpected_decoder_error) {
  harness.on_load = fails_with(std::runtime_error("what now"));
  expect_only_the_chosen_fail(FailureReason::internal);
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
