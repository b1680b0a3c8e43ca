#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <cstdint>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {

/// The images for which a test fails.
inline bool is_chosen(int number) { return number == 3 || number == 11; }

inline std::int64_t failures(const telemetry::RunReport& report, FailureReason reason) {
  return report.failures[std::size_t(reason)];
}

/// Throws the error for the chosen images.
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

}  // namespace eckart::test
