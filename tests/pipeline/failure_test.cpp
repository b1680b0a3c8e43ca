// What throws where: an image's failure costs that image, the process's failure ends the run with
// its exit code.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <new>
#include <stdexcept>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

bool is_chosen(int number) { return number == 3 || number == 11; }

std::int64_t failures(const telemetry::RunReport& report, Reason reason) {
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

  /// Both chosen images failed, for this reason, and nothing else did.
  void expect_only_the_chosen_fail(Reason reason) {
    const telemetry::RunReport report = rig.run();
    EXPECT_EQ(failures(report, reason), 2) << to_string(reason);
    EXPECT_EQ(report.failed, 2);
    EXPECT_EQ(report.done, 18);
    EXPECT_EQ(rig.written(), numbers(20, is_chosen));
  }

  /// run() throws FatalError with this code.
  void expect_fatal(ExitCode code) {
    try {
      rig.run();
      FAIL() << "the run did not fail";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
    }
  }

  Rig rig;
  const EnvironmentError full_{"no space left", EnvironmentError::Wants::space};
  const FatalError lost_{ExitCode::temporary, "the GPU is lost"};
};

TEST_F(PipelineFailure, a_decoder_that_refuses_costs_its_image) {
  rig.on_load = fails_with(ItemError(Reason::corrupt, "broken"));
  expect_only_the_chosen_fail(Reason::corrupt);
}

TEST_F(PipelineFailure, a_decoder_that_fails_in_an_unforeseen_way_costs_its_image) {
  rig.on_load = fails_with(std::runtime_error("what now"));
  expect_only_the_chosen_fail(Reason::internal);
}

TEST_F(PipelineFailure, a_full_disk_stops_the_run_and_blames_no_image) {
  for (Hook Rig::*const hook : {&Rig::on_load, &Rig::on_write, &Rig::on_publish}) {
    Rig fresh;
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

TEST_F(PipelineFailure, what_was_written_before_the_disk_was_full_is_published) {
  rig.options.load_threads = 1;
  rig.options.write_threads = 1;
  rig.backend.slot_count = 1;
  rig.on_write = [this](int number) {
    if (number == 11) throw full_;
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(rig.written().size(), 11u);
  EXPECT_EQ(report.done, 11);
}

TEST_F(PipelineFailure, a_full_disk_is_waited_out_where_that_is_wished) {
  std::atomic<int> attempts = 0;
  rig.options.wait_for_space = true;
  rig.options.space_poll = std::chrono::milliseconds(1);
  rig.on_write = [&](int number) {
    if (is_chosen(number) && attempts++ < 5) throw full_;
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 20);
  EXPECT_EQ(rig.written(), numbers(20));
  EXPECT_EQ(attempts, 7);
}

/// As the ledger does where its disk is full and that of the outputs is not.
TEST_F(PipelineFailure, what_is_published_and_not_yet_recorded_counts_once) {
  std::atomic<int> attempts = 0;
  rig.options.wait_for_space = true;
  rig.options.space_poll = std::chrono::milliseconds(1);
  rig.on_record = [&](int number) {
    if (is_chosen(number) && attempts++ < 5) throw full_;
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 20);
  EXPECT_EQ(report.outputs, 20);
  EXPECT_EQ(rig.written(), numbers(20));
  EXPECT_EQ(attempts, 7);
}

TEST_F(PipelineFailure, a_writer_that_finds_no_descriptor_gives_back_its_own_first) {
  std::atomic<int> held = 0;  // one an image, between write and publish
  rig.options.write_threads = 1;
  rig.images = 200;
  rig.on_write = [&](int) {
    if (held == 3) throw EnvironmentError("too many open files", EnvironmentError::Wants::less);
    ++held;
  };
  rig.on_publish = [&](int) { --held; };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(report.done, 200);
}

TEST_F(PipelineFailure, a_loader_that_finds_no_descriptor_waits_for_the_writers) {
  std::atomic<int> attempts = 0;
  rig.options.space_poll = std::chrono::milliseconds(1);
  rig.on_load = [&](int number) {
    if (number == 7 && ++attempts < 5)
      throw EnvironmentError("too many open files", EnvironmentError::Wants::less);
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.stopped_by, "");
  EXPECT_EQ(rig.written(), numbers(20));
}

TEST_F(PipelineFailure, a_loader_that_never_finds_a_descriptor_stops_the_run) {
  rig.options.space_poll = std::chrono::milliseconds(1);
  rig.on_load = fails_with(EnvironmentError("too many open files", EnvironmentError::Wants::less));
  EXPECT_EQ(rig.run().stopped_by, "too many open files");
}

TEST_F(PipelineFailure, what_is_not_for_want_of_space_is_not_waited_out) {
  rig.options.wait_for_space = true;
  rig.on_write = fails_with(EnvironmentError("the disk is broken"));
  EXPECT_EQ(rig.run().stopped_by, "the disk is broken");
}

TEST_F(PipelineFailure, a_stop_ends_the_wait_for_space) {
  rig.options.wait_for_space = true;
  rig.options.space_poll = std::chrono::hours(1);
  rig.on_write = [&](int number) {
    if (number == 3) {
      rig.pipeline().request_stop();
      throw full_;
    }
  };
  EXPECT_EQ(rig.run().stopped_by, "no space left");
}

TEST_F(PipelineFailure, a_decoder_without_memory_costs_its_image) {
  rig.on_reserved = fails_with(std::bad_alloc());
  expect_only_the_chosen_fail(Reason::out_of_memory);
}

TEST_F(PipelineFailure, what_is_no_exception_ends_the_run_wherever_it_is_thrown) {
  for (Hook Rig::*const hook : {&Rig::on_next, &Rig::on_load, &Rig::on_reserved, &Rig::on_write}) {
    Rig fresh;
    fresh.*hook = fails_with(42);
    EXPECT_THROW(fresh.run(), int);
  }
  for (Hook FakeBackend::*const hook : {&FakeBackend::on_start, &FakeBackend::on_finish}) {
    Rig fresh;
    fresh.backend.*hook = fails_with(42);
    EXPECT_THROW(fresh.run(), int);
  }
}

TEST_F(PipelineFailure, a_source_that_throws_ends_the_run) {
  rig.on_next = fails_with(FatalError(ExitCode::no_input, "the list broke off"));
  expect_fatal(ExitCode::no_input);
}

TEST_F(PipelineFailure, a_source_that_throws_something_else_ends_the_run_with_it) {
  rig.on_next = fails_with(std::logic_error("a bug"));
  EXPECT_THROW(rig.run(), std::logic_error);
}

TEST_F(PipelineFailure, a_backend_that_cannot_be_made_ends_the_run) {
  rig.images = 100000;
  rig.make_backend = []() -> Backend& { throw FatalError(ExitCode::unavailable, "no GPU"); };
  expect_fatal(ExitCode::unavailable);
}

TEST_F(PipelineFailure, a_lane_that_cannot_be_made_ends_the_run) {
  rig.images = 100000;
  rig.backend.lane_count = 3;
  rig.backend.on_make_lane = [&](int lane) {
    if (lane == 1) throw lost_;
  };
  expect_fatal(ExitCode::temporary);
}

TEST_F(PipelineFailure, a_batch_that_does_not_start_or_finish_costs_its_images) {
  for (Hook FakeBackend::*const hook : {&FakeBackend::on_start, &FakeBackend::on_finish}) {
    for (const int slots : {1, 2}) {
      Rig fresh;
      fresh.backend.slot_count = slots;
      fresh.backend.*hook = fails_with(std::runtime_error("out of device memory"));
      const telemetry::RunReport report = fresh.run();
      EXPECT_EQ(failures(report, Reason::compute_failed), 2);
      EXPECT_EQ(fresh.written(), numbers(20, is_chosen));
    }
  }
}

TEST_F(PipelineFailure, a_failed_batch_costs_all_of_its_images) {
  rig.options.load_threads = 1;
  rig.on_load = [&](int number) {  // else the first images may be a batch of their own
    if (number == 0) wait_until([&] { return rig.pipeline().progress().total == 20; });
  };
  rig.options.linger = std::chrono::hours(1);
  rig.backend.planes = 10;
  rig.backend.on_finish = [](int number) {
    if (number == 3) throw std::runtime_error("out of device memory");
  };
  EXPECT_EQ(failures(rig.run(), Reason::compute_failed), 10);
  EXPECT_EQ(rig.written(), numbers(20, [](int number) { return number < 10; }));
}

TEST_F(PipelineFailure, an_image_that_does_not_converge_leaves_its_batch_alone) {
  rig.backend.planes = 5;
  rig.backend.verdict = [](int number) { return is_chosen(number) ? "no convergence" : ""; };
  expect_only_the_chosen_fail(Reason::not_converged);
}

TEST_F(PipelineFailure, an_image_fails_for_the_reason_that_the_backend_gives) {
  rig.backend.verdict = [](int number) { return is_chosen(number) ? "no memory" : ""; };
  rig.backend.reason = Reason::out_of_memory;
  expect_only_the_chosen_fail(Reason::out_of_memory);
}

TEST_F(PipelineFailure, a_lost_backend_ends_the_run) {
  for (Hook FakeBackend::*const hook : {&FakeBackend::on_start, &FakeBackend::on_finish}) {
    Rig fresh;
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
  rig.source_waits_at_end = true;
  rig.backend.on_start = fails_with(lost_);
  expect_fatal(ExitCode::temporary);
}

TEST_F(PipelineFailure, what_was_finished_before_the_backend_was_lost_is_written) {
  std::atomic<bool> lost = false;
  rig.options.load_threads = 1;
  rig.backend.slot_count = 1;
  rig.backend.on_start = [&](int number) {
    if (number < 10) return;
    lost = true;
    throw lost_;
  };
  rig.on_write = [&](int number) {
    wait_until([&] { return lost.load(); });
    if (number == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // gives the abort its time
  };
  rig.options.write_threads = 1;
  expect_fatal(ExitCode::temporary);
  EXPECT_EQ(rig.written(), numbers(10));
}

TEST_F(PipelineFailure, a_loader_that_waits_for_all_of_the_budget_does_not_outlast_the_run) {
  constexpr int kFit = 8;
  rig.options.load_threads = 1;
  rig.options.budget_bytes = std::size_t(kFit) * 2 * kSmall.bytes();
  rig.shape_of = [](int number) {
    return number < kFit ? kSmall : ImageShape{99, 99, 3, Depth::u16};
  };
  std::atomic<int> asked = 0;
  rig.on_load = [&](int) { ++asked; };
  rig.backend.on_start = [&](int) {
    wait_until([&] { return asked > kFit; });
    throw lost_;
  };
  expect_fatal(ExitCode::temporary);
}

TEST_F(PipelineFailure, an_output_that_cannot_be_written_costs_its_image) {
  rig.on_write = fails_with(ItemError(Reason::not_written, "disk full"));
  expect_only_the_chosen_fail(Reason::not_written);
}

TEST_F(PipelineFailure, a_writer_that_gives_up_ends_the_run_while_all_others_wait) {
  for (const int writers : {1, 3}) {
    Rig fresh;
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
