#include "cluster/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace eckart::cluster {
namespace {

TEST(Command, returns_its_exit_code_and_output) {
  const CommandResult result = run_command({"sh", "-c", "echo a b; echo c >&2; exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "a b\n");
  EXPECT_EQ(result.err, "c\n");
}

TEST(Command, passes_arguments_unchanged) {
  EXPECT_EQ(run_command({"printf", "%s|", "a b", "", "'\"$x"}).out, "a b||'\"$x|");
}

TEST(Command, reads_more_than_a_pipe_holds) {
  const CommandResult result =
      run_command({"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"});
  EXPECT_EQ(result.out.size(), 300000);
  EXPECT_EQ(result.err.size(), 300000);
}

TEST(Command, has_no_input) { EXPECT_EQ(run_command({"cat"}).out, ""); }

TEST(Command, returns_the_signal_that_ended_it) {
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
}

TEST(Command, is_unavailable_if_it_is_not_installed) {
  try {
    run_command({"no-such-program-of-eckart"});
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_STREQ(error.what(), "no-such-program-of-eckart is not installed, or not in PATH");
  }
}

}  // namespace
}  // namespace eckart::cluster
