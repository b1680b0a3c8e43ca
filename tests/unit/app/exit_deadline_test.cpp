#include "app/exit_deadline.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <new>

#include "tests/support/sanitized.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::app {
namespace {

TEST(ExitDeadline, exits_after_its_time_unless_it_is_canceled) {
  std::atomic<int> exits = 0, calls = 0;
  const auto exit_process = [&](ExitCode code) {
    EXPECT_EQ(code, ExitCode::temporary);
    ++exits;
  };
  const auto before_exit = [&] { ++calls; };
  {
    const ExitDeadline canceled(std::chrono::hours(1), ExitCode::temporary, before_exit,
                                exit_process);
  }
  EXPECT_EQ(exits, 0);
  const ExitDeadline passed(std::chrono::milliseconds(1), ExitCode::temporary, before_exit,
                            exit_process);
  EXPECT_TRUE(test::wait_for([&] { return exits == 1; }));
  EXPECT_EQ(calls, 1);
}

/// The caller logs why the process ends.
TEST(ExitDeadline, throws_if_its_thread_cannot_be_started) {
  if (test::kIsSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr rlim_t kStack = 8 << 20;
  std::latch ended(1);
  std::atomic<int> exits = 0;
  {
    const rlimit few{pages * 4096 + 4 * kStack, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &few), 0);
    const flow::Workers all_threads(
        "load", 100, [&](int) { ended.wait(); }, [](const std::exception_ptr&) {});
    EXPECT_THROW(
        ExitDeadline(std::chrono::hours(1), ExitCode::temporary, {}, [&](ExitCode) { ++exits; }),
        std::bad_alloc);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    ended.count_down();
  }
  EXPECT_EQ(exits, 0);
}

}  // namespace
}  // namespace eckart::app
