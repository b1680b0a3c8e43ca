#include "io/watch/file_observation.hpp"

#include <gtest/gtest.h>

namespace eckart::io {
namespace {

using namespace std::chrono;

/// A program that copies a file may set the old modification time before the copy is complete.
TEST(FileAge, is_the_time_since_the_ctime) {
  const nanoseconds now = system_clock::now().time_since_epoch();
  FileFingerprint fingerprint;
  fingerprint.identity.ctime_ns = (now - minutes(1)).count();
  fingerprint.identity.state.mtime_ns = (now - hours(1000)).count();
  EXPECT_GE(age_of(fingerprint), minutes(1));
  EXPECT_LT(age_of(fingerprint), hours(1));
}

}  // namespace
}  // namespace eckart::io
