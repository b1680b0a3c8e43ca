#include "io/output_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "io/input_guard.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::failure_of;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

OutputTree tree(std::string name, std::vector<RankPolicy> ranks = {{20}}) {
  return OutputTree("out", std::move(name), &codec::codec_for(ImageFormat::jpeg), std::move(ranks));
}

TEST(OutputTree, names_residuals_after_all_ranks) {
  const auto outputs = [](const char* name, std::vector<RankPolicy> ranks) {
    return OutputTree("out", name, &codec::codec_for(ImageFormat::png), std::move(ranks),
                      {.residuals = true})
        .outputs_of("d/a.b.jpg");
  };
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_EQ(outputs("{stem}.{ext}", {{20}}), (Paths{"out/d/a.b.png", "out/d/a.b.residual.png"}));
  EXPECT_EQ(outputs("{stem}.{label}.{ext}", {{5}, {9}}),
            (Paths{"out/d/a.b.k5.png", "out/d/a.b.k9.png", "out/d/a.b.k5.residual.png",
                   "out/d/a.b.k9.residual.png"}));
}

TEST(OutputTree, names_one_file_of_factors_after_all_images) {
  const auto outputs = [](const char* name, const codec::Codec* codec,
                          std::vector<RankPolicy> ranks) {
    return OutputTree("out", name, codec, std::move(ranks), {.factors = true}).outputs_of("a.jpg");
  };
  using Paths = std::vector<std::filesystem::path>;
  const codec::Codec* png = &codec::codec_for(ImageFormat::png);
  EXPECT_EQ(outputs("{stem}.{ext}", png, {{20}}), (Paths{"out/a.png", "out/a.npz"}));
  EXPECT_EQ(outputs("{stem}.{label}.{ext}", png, {{5}, {9}}),
            (Paths{"out/a.k5.png", "out/a.k9.png", "out/a.factors.npz"}));
  EXPECT_EQ(outputs("{stem}-x.png", png, {{5}}), (Paths{"out/a-x.png", "out/a-x.png.npz"}));
  EXPECT_EQ(outputs("{stem}.{ext}", nullptr, {{5}, {9}}), (Paths{"out/a.npz"}));
}

TEST(OutputTree, finds_factors_of_its_own_and_of_default_names) {
  EXPECT_THAT(tree("{stem}-{rank}.{ext}", {{5}, {20}}).possible_factors_of("d/a.jpg"),
              ElementsAre("out/d/a-factors.npz", "out/d/a.jpg-factors.npz", "out/d/a.npz",
                          "out/d/a.jpg.npz", "out/d/a.factors.npz", "out/d/a.jpg.factors.npz"));
}

TEST(OutputTree, mirrors_the_input_tree) {
  OutputTree outputs = tree(OutputTree::default_name(1));
  EXPECT_THAT(outputs.reserve("a.png"), ElementsAre("out/a.jpg"));
  EXPECT_THAT(outputs.reserve("d/e/a.b.png"), ElementsAre("out/d/e/a.b.jpg"));
  EXPECT_THAT(outputs.reserve("d/e/none"), ElementsAre("out/d/e/none.jpg"));
  EXPECT_THAT(outputs.reserve("d/\xFF\n.png"), ElementsAre("out/d/\xFF\n.jpg"));
}

TEST(OutputTree, assigns_one_name_per_rank) {
  OutputTree outputs = tree(OutputTree::default_name(2), {{5}, {20}});
  EXPECT_THAT(outputs.reserve("d/a.png"), ElementsAre("out/d/a.k5.jpg", "out/d/a.k20.jpg"));
}

/// The second output of x.png would equal the first output of x1.png.
TEST(OutputTree, does_not_assign_a_name_twice) {
  OutputTree outputs = tree("{stem}{rank}.{ext}", {{1}, {11}});
  const std::vector<fs::path> first = outputs.reserve("x.png");
  EXPECT_THAT(first, ElementsAre("out/x1.jpg", "out/x11.jpg"));
  for (const fs::path& output : outputs.reserve("x1.png"))
    EXPECT_THAT(first, testing::Not(testing::Contains(output)));
}

TEST(OutputTree, expands_every_field) {
  EXPECT_THAT(tree("{rank}-{name}-{stem}_{stem}.{ext}").reserve("d/a.png"),
              ElementsAre("out/d/20-a.png-a_a.jpg"));
}

TEST(OutputTree, does_not_expand_a_field_in_the_name_of_an_input) {
  EXPECT_THAT(tree("{stem}.{ext}").reserve("{ext}.png"), ElementsAre("out/{ext}.jpg"));
}

TEST(OutputTree, rejects_invalid_patterns) {
  EXPECT_THROW(tree("{stem}.{extension}"), std::invalid_argument);
  EXPECT_THROW(tree("{stem"), std::invalid_argument);
  EXPECT_THROW(tree("{}"), std::invalid_argument);
  EXPECT_THROW(tree("x/{stem}.{ext}"), std::invalid_argument);
  EXPECT_THROW(tree("../{stem}.{ext}"), std::invalid_argument);
  EXPECT_THROW(tree(""), std::invalid_argument);
  EXPECT_THROW(tree(".."), std::invalid_argument);
  EXPECT_THROW(tree("{stem}.{ext}", {{1}, {2}}), std::invalid_argument);
  EXPECT_NO_THROW(tree("{stem}.{ext}", {{1}}));
  EXPECT_THROW(tree("{rank}-{name}"), std::invalid_argument) << "extension of the input";
  EXPECT_NO_THROW(tree("{name}.{ext}"));
}

TEST(OutputTree, requires_an_extension_of_the_format) {
  const auto error = [](const std::string& name) -> std::string {
    try {
      tree(name);
    } catch (const std::invalid_argument& invalid) {
      return invalid.what();
    }
    return {};
  };
  for (const char* name : {"{stem}.{ext}", "{stem}.jpg", "{stem}.{label}.JPEG"})
    EXPECT_EQ(error(name), "");
  EXPECT_THAT(error("{stem}"), HasSubstr("'{stem}' lacks the extension of the format; use "
                                         "'{stem}.{ext}'"));
  EXPECT_THAT(error("v1.2-{label}"), HasSubstr("use 'v1.2-{label}.{ext}'"));
  EXPECT_THAT(error("{stem}_{ext}"), HasSubstr("use '{stem}_.{ext}'"));
  const std::string other = "' has the extension of ",
                    format = ", but the format is jpeg; end the ";
  EXPECT_EQ(error("{stem}.GIF"),
            "the output name '{stem}.GIF" + other + "gif" + format + "name with {ext}");
  EXPECT_EQ(error("{stem}.png"), "the output name '{stem}.png" + other + "png" + format +
                                     "name with {ext}, or set output.format to png");
  EXPECT_THAT(error("{name}"), HasSubstr("'{name}' ends with {name}, which has the extension of "
                                         "the input; end the name with .{ext}"));
  EXPECT_NO_THROW(OutputTree("out", "{stem}", nullptr, {{20}}, {.factors = true}))
      << "factors always have their extension";
}

TEST(OutputTree, rejects_a_second_input_of_the_same_name) {
  OutputTree outputs = tree("{stem}.{ext}");
  outputs.reserve("d/a.png");
  const test::CaughtError failure = failure_of([&] { outputs.reserve("d/a.png"); });
  EXPECT_EQ(failure.reason, FailureReason::output_collision);
  EXPECT_THAT(failure.detail, HasSubstr("out/d/a.jpg"));
  EXPECT_NO_THROW(outputs.reserve("e/a.png"));
}

TEST(OutputTree, assigns_the_full_name_to_the_second_input_of_one_output) {
  OutputTree outputs = tree("{stem}.k{rank}.{ext}", {{5}, {20}});
  EXPECT_THAT(outputs.reserve("d/a.png"), ElementsAre("out/d/a.k5.jpg", "out/d/a.k20.jpg"));
  const auto full = outputs.reserve("d/a.jpg");
  EXPECT_THAT(full, ElementsAre("out/d/a.jpg.k5.jpg", "out/d/a.jpg.k20.jpg"));
  EXPECT_EQ(full, outputs.outputs_of("d/a.jpg", OutputTree::Naming::full));
  EXPECT_THAT(outputs.reserve("d/a.jpeg"),
              ElementsAre("out/d/a.jpeg.k5.jpg", "out/d/a.jpeg.k20.jpg"));
}

TEST(OutputTree, rejects_a_full_name_that_is_reserved) {
  OutputTree outputs = tree("{stem}.{ext}");
  outputs.reserve("a.png");
  EXPECT_THAT(outputs.reserve("a.jpg.png"), ElementsAre("out/a.jpg.jpg"));
  EXPECT_EQ(failure_of([&] { outputs.reserve("a.jpg"); }).reason, FailureReason::output_collision);
  OutputTree of_names = tree("result-{rank}.{ext}");
  of_names.reserve("a.png");
  EXPECT_EQ(failure_of([&] { of_names.reserve("b.png"); }).reason, FailureReason::output_collision)
      << "the pattern has no field for the name of the input";
}

TEST(OutputTree, names_the_output_that_another_input_has) {
  const auto failure = [](OutputTree&& outputs, const fs::path& first, const fs::path& second) {
    outputs.reserve(first);
    return failure_of([&] { outputs.reserve(second); }).detail;
  };
  const std::string taken = " is already the output of another input",
                    advice = "; rename one of the inputs or set output.name";
  EXPECT_EQ(failure(tree("{stem}.{ext}"), "d/a.png", "d/a.png"),
            "its output out/d/a.jpg" + taken + ", unless this input was given twice" + advice);
  EXPECT_EQ(failure(tree("one-{rank}.{ext}"), "a.png", "b.png"),
            "its output out/one-20.jpg" + taken + advice);
  EXPECT_EQ(failure(tree("{stem}{rank}.{ext}", {{1}, {11}}), "x1", "x"),
            "its output out/x11.jpg" + taken + advice);
  EXPECT_EQ(failure(tree("{stem}.{ext}"), "a.png", "./.eckart/b.png"),
            "its output out/./.eckart/b.jpg would be inside the folder .eckart");
  EXPECT_EQ(failure(tree("{stem}-{rank}.{ext}", {{5}, {5}}), "a.png", "b.png"), "")
      << "equal ranks have one output";
}

TEST(OutputTree, assigns_the_full_name_to_factors_too) {
  OutputTree outputs("out", "{stem}.{ext}", nullptr, {{5}}, {.factors = true});
  const std::vector<fs::path> usual = outputs.reserve("a.png"), full = outputs.reserve("a.jpg");
  EXPECT_THAT(usual, ElementsAre("out/a.npz"));
  EXPECT_THAT(full, ElementsAre("out/a.jpg.npz"));
  EXPECT_TRUE(outputs.have_usual_names(usual, "a.png"));
  EXPECT_FALSE(outputs.have_usual_names(full, "a.jpg"));
}

TEST(OutputTree, cancels_only_the_reservations_of_that_input) {
  OutputTree outputs = tree("{stem}.{ext}");
  outputs.reserve("a.jpg");
  EXPECT_THAT(outputs.reserve("a.png"), ElementsAre("out/a.png.jpg"));
  outputs.release("a.png");
  EXPECT_THAT(outputs.reserve("a.png"), ElementsAre("out/a.png.jpg")) << "a.jpg is still reserved";
  outputs.release("a.jpg");
  EXPECT_THAT(outputs.reserve("a.jpeg"), ElementsAre("out/a.jpg"));
}

TEST(OutputTree, treats_names_as_equal_if_the_file_system_does) {
  OutputTree outputs = tree("{name}.{ext}");
  outputs.reserve("d/a.png");
  EXPECT_NO_THROW(outputs.reserve("D/A.png"));
  outputs.set_case_insensitive(true);
  outputs.reserve("e/a.png");
  EXPECT_EQ(failure_of([&] { outputs.reserve("E/A.png"); }).reason,
            FailureReason::output_collision);
}

TEST(OutputTree, reserves_nothing_for_a_rejected_input) {
  OutputTree outputs = tree("{stem}{rank}.{ext}", {{1}, {11}, {111}});
  const auto reason = [&](const fs::path& input) {
    return failure_of([&] { outputs.reserve(input); }).reason;
  };
  EXPECT_EQ(reason("a111"), FailureReason::none);            // a1111, a11111, a111111
  EXPECT_EQ(reason("a1"), FailureReason::output_collision);  // a11, a111, a1111
  EXPECT_EQ(reason("a"), FailureReason::none);               // a1, a11, a111
}

TEST(OutputTree, assigns_a_name_to_one_of_many_threads) {
  OutputTree outputs = tree("{stem}.{ext}");
  std::atomic<int> given{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const fs::path input = std::to_string(i) + ".png";
        if (failure_of([&] { outputs.reserve(input); }).reason == FailureReason::none) ++given;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(given, 100);
}

class OutputRootTest : public testing::Test {
 protected:
  OutputRootTest() { fs::create_directory(in_); }

  /// Returns the exit code and the message of the error; ExitCode::ok if there is none.
  static std::pair<ExitCode, std::string> refusal(const fs::path& root,
                                                  const std::vector<fs::path>& inputs) {
    try {
      const InputGuard guard(inputs, root);
      prepare_output_root(root);
      return {ExitCode::ok, ""};
    } catch (const FatalError& error) {
      return {error.code(), error.what()};
    }
  }

  const TempFolder folder_;
  const fs::path in_ = folder_.path() / "in";
  const fs::path out_ = folder_.path() / "out";
};

TEST_F(OutputRootTest, is_created_and_left_empty) {
  EXPECT_EQ(refusal(out_ / "a" / "b", {in_}).first, ExitCode::ok);
  EXPECT_TRUE(fs::is_empty(out_ / "a" / "b"));
  EXPECT_FALSE(prepare_output_root(out_)) << "this file system is case-sensitive";
  EXPECT_EQ(refusal(out_ / "a" / "b", {in_}).first, ExitCode::ok) << "a second call succeeds";
}

TEST_F(OutputRootTest, is_rejected_inside_an_input_with_both_names) {
  fs::create_directory_symlink(in_, folder_.path() / "link");
  for (const fs::path& root :
       {in_, in_ / "", in_ / "new", in_ / "new" / "er", in_ / "." / "x" / "..",
        folder_.path() / "link" / "new", in_ / ".." / "in" / "new"}) {
    const auto [code, message] = refusal(root, {folder_.path() / "gone", in_});
    EXPECT_EQ(code, ExitCode::usage) << root;
    EXPECT_THAT(message, HasSubstr(root.string()));
    EXPECT_THAT(message, HasSubstr(in_.string()));
  }
  EXPECT_EQ(refusal(in_ / "new", {folder_.path() / "link"}).first, ExitCode::usage);
  EXPECT_TRUE(fs::is_empty(in_)) << "nothing was created";
}

TEST_F(OutputRootTest, is_accepted_beside_or_above_an_input) {
  EXPECT_EQ(refusal(folder_.path() / "in2", {in_}).first, ExitCode::ok);
  EXPECT_EQ(refusal(folder_.path(), {in_}).first, ExitCode::ok);
}

TEST_F(OutputRootTest, has_no_output_in_an_input_folder_through_a_link) {
  fs::create_directories(in_ / "day1");
  fs::create_directories(out_);
  fs::create_directory_symlink(in_ / "day1", out_ / "link");
  const InputGuard guard({in_}, out_);
  for (const fs::path& output : {out_ / "link" / "a.png", out_ / "link" / "new" / "a.png"}) {
    const auto failure = failure_of([&] { guard.check_free(output); });
    EXPECT_EQ(failure.reason, FailureReason::output_collision);
    EXPECT_THAT(failure.detail, HasSubstr("would be inside the input folder " + in_.string()));
  }
  EXPECT_EQ(failure_of([&] { guard.check_free(out_ / "day1" / "a.png"); }).reason,
            FailureReason::none);
}

/// A link below the output folder may lead to inputs of the list.
TEST_F(OutputRootTest, replaces_nothing_outside_if_inputs_are_not_known) {
  fs::create_directories(out_);
  fs::create_directory_symlink(in_, out_ / "link");
  for (const bool has_unknown_inputs : {true, false}) {
    const InputGuard guard({}, out_, has_unknown_inputs);
    EXPECT_EQ(failure_of([&] { guard.check_free(out_ / "link" / "a.png"); }).reason,
              has_unknown_inputs ? FailureReason::output_collision : FailureReason::none);
    EXPECT_EQ(failure_of([&] { guard.check_free(out_ / "new" / "a.png"); }).reason,
              FailureReason::none);
  }
}

TEST_F(OutputRootTest, compares_relative_paths) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_EQ(refusal("in/new", {"in"}).first, ExitCode::usage);
  EXPECT_EQ(refusal("in", {in_}).first, ExitCode::usage);
  EXPECT_EQ(refusal("new", {"in"}).first, ExitCode::ok);
  EXPECT_EQ(refusal("new", {"."}).first, ExitCode::usage);
  fs::current_path(before);
}

TEST_F(OutputRootTest, is_named_when_it_cannot_be_created) {
  std::ofstream(out_) << "a file";
  for (const fs::path& root : {out_, out_ / "below"}) {
    const auto [code, message] = refusal(root, {in_});
    EXPECT_EQ(code, ExitCode::cannot_create);
    EXPECT_THAT(message, HasSubstr(root.string()));
    EXPECT_THAT(message, HasSubstr("Not a directory"));
  }
}

TEST_F(OutputRootTest, reports_missing_permission) {
  fs::create_directory(out_);
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(out_, fs::perms(0555));
  if (::geteuid() == 0 && ::seteuid(65534) != 0) {
    GTEST_SKIP() << "root may write everywhere, and cannot switch to user nobody";
  }
  const ExitCode here = refusal(out_, {in_}).first;
  const ExitCode below = refusal(out_ / "below", {in_}).first;
  ASSERT_EQ(::seteuid(::getuid()), 0);
  EXPECT_EQ(here, ExitCode::no_permission);
  EXPECT_EQ(below, ExitCode::no_permission);
}

}  // namespace
}  // namespace eckart::io
