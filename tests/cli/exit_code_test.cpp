#include <gtest/gtest.h>

#include "app/run.hpp"

namespace eckart::app {
namespace {

struct Failures {
  Reason reason;
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
  EXPECT_EQ(code_of(1, {{Reason::corrupt, 9}}), ExitCode::some_failed);
  EXPECT_EQ(code_of(0, {{Reason::corrupt, 9}}, 1), ExitCode::some_failed);
  EXPECT_EQ(code_of(1, {{Reason::not_found, 1}}), ExitCode::some_failed);
}

TEST(ExitCode, is_65_when_no_input_could_be_read) {
  EXPECT_EQ(code_of(0), ExitCode::nothing_readable);
  for (const Reason reason : {Reason::unreadable, Reason::empty_file, Reason::not_an_image,
                              Reason::unsupported, Reason::too_large, Reason::corrupt}) {
    EXPECT_EQ(code_of(0, {{reason, 2}}), ExitCode::nothing_readable) << to_string(reason);
    EXPECT_EQ(code_of(0, {{reason, 2}, {Reason::not_found, 1}}), ExitCode::nothing_readable);
  }
}

TEST(ExitCode, is_66_when_no_input_is_there) {
  EXPECT_EQ(code_of(0, {{Reason::not_found, 2}}), ExitCode::no_input);
}

TEST(ExitCode, is_74_when_an_output_could_not_be_written) {
  EXPECT_EQ(code_of(10, {{Reason::not_written, 1}}), ExitCode::io_error);
  EXPECT_EQ(code_of(0, {{Reason::corrupt, 1}, {Reason::not_written, 1}}), ExitCode::io_error);
}

TEST(ExitCode, is_3_when_all_inputs_were_read_and_all_failed_later) {
  for (const Reason reason :
       {Reason::not_converged, Reason::compute_failed, Reason::output_collision}) {
    EXPECT_EQ(code_of(0, {{reason, 2}}), ExitCode::some_failed) << to_string(reason);
    EXPECT_EQ(code_of(0, {{reason, 1}, {Reason::corrupt, 1}}), ExitCode::some_failed);
  }
}

}  // namespace
}  // namespace eckart::app
