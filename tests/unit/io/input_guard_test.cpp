#include "io/input_guard.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

TEST(InputGuard, names_the_folders_that_must_not_be_the_same) {
  const test::TempFolder folder;
  const fs::path in = folder.path() / "in";
  fs::create_directory(in);
  const auto message = [&](const fs::path& root) -> std::string {
    try {
      const InputGuard guard({in}, root);
      return "";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
  };
  EXPECT_EQ(message(in), "the output folder " + in.string() + " is the input " + in.string());
  EXPECT_EQ(message(in / "out"),
            "the output folder " + (in / "out").string() + " is inside the input " + in.string());
  EXPECT_EQ(message(folder.path() / "out"), "");
}

TEST(InputGuard, lets_no_output_replace_an_input) {
  const test::TempFolder folder;
  const fs::path root = folder.path(), in = root / "in";
  fs::create_directory(in);
  for (const char* name : {"a.png", "b.png", "in/c.png", "old.png"}) std::ofstream(root / name);
  const InputGuard guard({in, root / "a.png", root / "b.png"}, root);
  const auto failure = [&](const fs::path& output) -> std::string {
    const test::CaughtError error =
        test::failure_of([&] { guard.check(root / "a.png", root / output); });
    if (error.reason == FailureReason::none) return "";
    EXPECT_EQ(error.reason, FailureReason::output_collision);
    const std::string begin = "its output " + (root / output).string() + " would ";
    EXPECT_EQ(error.detail.substr(0, begin.size()), begin);
    return error.detail.substr(begin.size());
  };
  EXPECT_EQ(failure("a.png"), "overwrite the input itself");
  EXPECT_EQ(failure("b.png"), "overwrite another input");
  EXPECT_EQ(failure("in/new.png"), "be inside the input folder " + in.string());
  EXPECT_EQ(failure("new.png"), "");
  EXPECT_TRUE(guard.check(root / "a.png", root / "old.png"));
  EXPECT_FALSE(guard.check(root / "a.png", root / "new.png"));
  EXPECT_EQ(test::failure_of([&] { guard.check_free(in / "new.png"); }).reason,
            FailureReason::output_collision);
}

}  // namespace
}  // namespace eckart::io
