#include <gtest/gtest.h>

#include "app/run.hpp"

namespace eckart::app {
namespace {

struct Failures {
  FailureReason reason;
  int count;
};

ExitCode code_of(int done, std::initializer_list<Failures> failures = {}, int skipped = 0) {
  telemetry::RunReport report;
  report.done = done;
  report.skipped = skipped;
  for (const auto& [reason, count] : failures) {
    report.failures[std::size_t(reason)] += count;
    report.failed += count;
  }
  return exit_code(report);
}

TEST(ExitCode, is_0_when_all_is_done) {
  EXPECT_EQ(code_of(5), ExitCode::ok);
  EXPECT_EQ(code_of(0, {}, 5), ExitCode::ok) << "all was done before";
}

TEST(ExitCode, is_3_when_some_inputs_failed) {
  EXPECT_EQ(code_of(1, {{FailureReason::corrupt, 9}}), ExitCode::some_failed);
  EXPECT_EQ(code_of(0, {{FailureReason::corrupt, 9}}, 1), ExitCode::some_failed);
  EXPECT_EQ(code_of(1, {{FailureReason::not_found, 1}}), ExitCode::some_failed);
}

TEST(ExitCode, is_65_when_no_input_could_be_read) {
  EXPECT_EQ(code_of(0), ExitCode::nothing_readable);
  for (const FailureReason reason :
       {FailureReason::unreadable, FailureReason::empty_file, FailureReason::not_an_image,
        FailureReason::unsupported, FailureReason::too_large, FailureReason::corrupt}) {
    EXPECT_EQ(code_of(0, {{reason, 2}}), ExitCode::nothing_readable) << to_string(reason);
    EXPECT_EQ(code_of(0, {{reason, 2}, {FailureReason::not_found, 1}}), ExitCode::nothing_readable);
  }
}

TEST(ExitCode, is_66_when_no_input_exists) {
  EXPECT_EQ(code_of(0, {{FailureReason::not_found, 2}}), ExitCode::no_input);
}

TEST(ExitCode, is_74_when_an_output_could_not_be_written) {
  EXPECT_EQ(code_of(10, {{FailureReason::not_written, 1}}), ExitCode::io_error);
  EXPECT_EQ(code_of(0, {{FailureReason::corrupt, 1}, {FailureReason::not_written, 1}}),
            ExitCode::io_error);
}

TEST(ExitCode, is_3_when_all_inputs_were_read_and_all_failed_later) {
  for (const FailureReason reason : {FailureReason::not_converged, FailureReason::compute_failed,
                                     FailureReason::output_collision}) {
    EXPECT_EQ(code_of(0, {{reason, 2}}), ExitCode::some_failed) << to_string(reason);
    EXPECT_EQ(code_of(0, {{reason, 1}, {FailureReason::corrupt, 1}}), ExitCode::some_failed);
  }
}

}  // namespace
}  // namespace eckart::app
