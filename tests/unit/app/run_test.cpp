#include "app/run.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::app {
namespace {

// Created before any thread: ThreadSanitizer cannot see the locks inside the spdlog library.
spdlog::logger* const logger = spdlog::default_logger_raw();

TEST(Run, has_total_before_the_first_image_is_done) {
  const test::TempFolder folder;
  for (const char* name : {"a.png", "b.png", "c.txt"}) std::ofstream(folder.path() / name) << "x";
  const test::TempFolder out;
  RunRequest request;
  request.inputs = {folder.path()};
  request.output = out.path();
  request.count_inputs = true;
  const app::Run run(std::move(request), std::chrono::steady_clock::now());
  EXPECT_TRUE(test::wait_for([&] { return run.progress().is_total_final; }));
  EXPECT_EQ(run.progress().total, 2);
  EXPECT_EQ(run.progress().done, 0);
}

/// More images than the pipeline holds at a time, so that some are done before the last is found.
TEST(Run, does_not_report_more_done_than_total) {
  constexpr int kFiles = 1000;
  logger->set_level(spdlog::level::off);
  const test::TempFolder folder, out;
  RunRequest request;
  request.settings.backend = settings::BackendChoice::cpu;
  request.inputs = {folder.path()};
  request.output = out.path();
  request.count_inputs = true;
  app::Run run(std::move(request), std::chrono::steady_clock::now());
  EXPECT_TRUE(test::wait_for([&] { return run.progress().is_total_final; }));
  for (int i = 0; i < kFiles; ++i)
    std::ofstream(folder.path() / (std::to_string(i) + ".png")) << "no image";
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    EXPECT_EQ(run.execute().failed, kFiles);
    ended = true;
  });
  while (!ended) {
    const telemetry::ProgressState progress = run.progress();
    EXPECT_LE(progress.done, progress.total);
    std::this_thread::yield();
  }
  thread.join();
  logger->set_level(spdlog::level::info);
  EXPECT_EQ(run.progress().total, kFiles);
}

telemetry::RunReport failed_for(const std::vector<FailureReason>& reasons) {
  telemetry::RunReport report;
  for (const FailureReason reason : reasons) {
    ++report.failed;
    ++report.failures[std::size_t(reason)];
  }
  return report;
}

TEST(RunExitCode, reflects_results_of_the_images) {
  using enum FailureReason;
  EXPECT_EQ(exit_code(failed_for({})), ExitCode::nothing_readable);
  EXPECT_EQ(exit_code(failed_for({not_found, not_found})), ExitCode::no_input);
  EXPECT_EQ(exit_code(failed_for({not_found, corrupt})), ExitCode::nothing_readable);
  EXPECT_EQ(exit_code(failed_for({corrupt, not_converged})), ExitCode::some_failed);
  EXPECT_EQ(exit_code(failed_for({corrupt, not_written})), ExitCode::io_error);
  telemetry::RunReport report = failed_for({corrupt});
  report.done = 1;
  EXPECT_EQ(exit_code(report), ExitCode::some_failed);
  report = failed_for({unsupported});
  report.partly_done = 1;
  EXPECT_EQ(exit_code(report), ExitCode::some_failed);
  report = {};
  report.skipped = 1;
  EXPECT_EQ(exit_code(report), ExitCode::ok);
}

}  // namespace
}  // namespace eckart::app
