#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

namespace eckart::test {

/// Limits the size of files while it exists, to simulate a full disk.
class MaxFileSize {
 public:
  explicit MaxFileSize(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit_), 0);
    const rlimit limit{bytes, old_limit_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  MaxFileSize(const MaxFileSize&) = delete;
  MaxFileSize& operator=(const MaxFileSize&) = delete;
  ~MaxFileSize() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit_), 0);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit old_limit_{};
};

}  // namespace eckart::test
