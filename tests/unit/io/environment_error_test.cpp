#include "io/environment_error.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <optional>

#include "core/error.hpp"

namespace eckart::io {
namespace {

/// The remedy of the error of writing; none if only this file fails.
std::optional<EnvironmentError::Remedy> remedy_of(int error) {
  try {
    check_environment(error, "message");
  } catch (const EnvironmentError& environment) {
    EXPECT_STREQ(environment.what(), "message");
    return environment.remedy();
  }
  return {};
}

TEST(CheckEnvironment, ends_the_run_if_the_next_file_would_fail_too) {
  using enum EnvironmentError::Remedy;
  for (const int error : {EIO, EROFS, ENODEV, ENXIO, ESTALE, EUCLEAN, EBADMSG, EREMOTEIO, ENOLINK,
                          ENODATA, ENOTCONN, ECONNABORTED, EHOSTDOWN, ETIMEDOUT})
    EXPECT_EQ(remedy_of(error), manual_repair) << error;
  for (const int error : {EMFILE, ENFILE, ENOMEM})
    EXPECT_EQ(remedy_of(error), release_resources) << error;
  for (const int error : {ENOSPC, EDQUOT}) EXPECT_EQ(remedy_of(error), free_disk_space) << error;
}

TEST(CheckEnvironment, leaves_errors_of_one_file) {
  for (const int error : {0, ENOENT, EACCES, EEXIST, ENAMETOOLONG, EISDIR, EINVAL})
    EXPECT_EQ(remedy_of(error), std::nullopt) << error;
}

}  // namespace
}  // namespace eckart::io
