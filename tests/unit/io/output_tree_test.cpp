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
#include "tests/unit/io/item_error.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::failure_of;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

OutputTree tree(std::string name, std::vector<RankPolicy> ranks = {{20}}) {
  return OutputTree("out", std::move(name), codec_named("jpeg"), std::move(ranks));
}

TEST(OutputTree, MirrorsTheTree) {
  OutputTree outputs = tree(OutputTree::default_name(1));
  EXPECT_THAT(outputs.claim("a.png"), ElementsAre("out/a.jpg"));
  EXPECT_THAT(outputs.claim("d/e/a.b.png"), ElementsAre("out/d/e/a.b.jpg"));
  EXPECT_THAT(outputs.claim("d/e/none"), ElementsAre("out/d/e/none.jpg"));
  EXPECT_THAT(outputs.claim("d/\xFF\n.png"), ElementsAre("out/d/\xFF\n.jpg"));
}

TEST(OutputTree, GivesOneNameARank) {
  OutputTree outputs = tree(OutputTree::default_name(2), {{5}, {20}});
  EXPECT_THAT(outputs.claim("d/a.png"), ElementsAre("out/d/a.k5.jpg", "out/d/a.k20.jpg"));
}

/// The second output of x.png would be the first of x1.png.
TEST(OutputTree, GivesTheNameOfNoRankTwice) {
  OutputTree outputs = tree("{stem}{rank}.{ext}", {{1}, {11}});
  const std::vector<fs::path> first = outputs.claim("x.png");
  EXPECT_THAT(first, ElementsAre("out/x1.jpg", "out/x11.jpg"));
  for (const fs::path& output : outputs.claim("x1.png"))
    EXPECT_THAT(first, testing::Not(testing::Contains(output)));
}

TEST(OutputTree, FillsInEveryField) {
  EXPECT_THAT(tree("{rank}-{name}-{stem}_{stem}.{ext}").claim("d/a.png"),
              ElementsAre("out/d/20-a.png-a_a.jpg"));
}

TEST(OutputTree, AFieldInAnInputsNameIsJustAName) {
  EXPECT_THAT(tree("{stem}.{ext}").claim("{ext}.png"), ElementsAre("out/{ext}.jpg"));
}

TEST(OutputTree, RefusesNamesThatCannotWork) {
  EXPECT_THROW(tree("{stem}.{extension}"), std::invalid_argument);
  EXPECT_THROW(tree("{stem"), std::invalid_argument);
  EXPECT_THROW(tree("{}"), std::invalid_argument);
  EXPECT_THROW(tree("x/{stem}.{ext}"), std::invalid_argument);
  EXPECT_THROW(tree("../{stem}.{ext}"), std::invalid_argument);
  EXPECT_THROW(tree(""), std::invalid_argument);
  EXPECT_THROW(tree(".."), std::invalid_argument);
  EXPECT_THROW(tree("{stem}.{ext}", {{1}, {2}}), std::invalid_argument);
  EXPECT_NO_THROW(tree("{stem}.{ext}", {{1}}));
}

TEST(OutputTree, TheSecondInputOfOneNameIsRefused) {
  OutputTree outputs = tree("{stem}.{ext}");
  outputs.claim("d/a.png");
  const test::Failure failure = failure_of([&] { outputs.claim("d/a.png"); });
  EXPECT_EQ(failure.reason, Reason::output_collision);
  EXPECT_THAT(failure.detail, HasSubstr("out/d/a.jpg"));
  EXPECT_NO_THROW(outputs.claim("e/a.png"));
}

TEST(OutputTree, TheSecondInputOfOneOutputGetsItsFullName) {
  OutputTree outputs = tree("{stem}.k{rank}.{ext}", {{5}, {20}});
  EXPECT_THAT(outputs.claim("d/a.png"), ElementsAre("out/d/a.k5.jpg", "out/d/a.k20.jpg"));
  const auto full = outputs.claim("d/a.jpg");
  EXPECT_THAT(full, ElementsAre("out/d/a.jpg.k5.jpg", "out/d/a.jpg.k20.jpg"));
  EXPECT_EQ(full, outputs.outputs_of("d/a.jpg", OutputTree::Naming::full));
  EXPECT_THAT(outputs.claim("d/a.jpeg"),
              ElementsAre("out/d/a.jpeg.k5.jpg", "out/d/a.jpeg.k20.jpg"));
}

TEST(OutputTree, AFullNameThatIsAnothersIsRefused) {
  OutputTree outputs = tree("{stem}.{ext}");
  outputs.claim("a.png");
  EXPECT_THAT(outputs.claim("a.jpg.png"), ElementsAre("out/a.jpg.jpg"));
  EXPECT_EQ(failure_of([&] { outputs.claim("a.jpg"); }).reason, Reason::output_collision);
  OutputTree of_names = tree("result-{rank}");
  of_names.claim("a.png");
  EXPECT_EQ(failure_of([&] { of_names.claim("b.png"); }).reason, Reason::output_collision)
      << "no input's name is in it";
}

TEST(OutputTree, AReleasedInputKeepsNothingAndTakesNothingFromOthers) {
  OutputTree outputs = tree("{stem}.{ext}");
  outputs.claim("a.jpg");
  EXPECT_THAT(outputs.claim("a.png"), ElementsAre("out/a.png.jpg"));
  outputs.release("a.png");
  EXPECT_THAT(outputs.claim("a.png"), ElementsAre("out/a.png.jpg")) << "a.jpg is still there";
  outputs.release("a.jpg");
  EXPECT_THAT(outputs.claim("a.jpeg"), ElementsAre("out/a.jpg"));
}

TEST(OutputTree, NamesThatAreOneFileAreOneName) {
  OutputTree outputs = tree("{name}.{ext}");
  outputs.claim("d/a.png");
  EXPECT_NO_THROW(outputs.claim("D/A.png"));
  outputs.fold_case(true);
  outputs.claim("e/a.png");
  EXPECT_EQ(failure_of([&] { outputs.claim("E/A.png"); }).reason, Reason::output_collision);
}

TEST(OutputTree, ARefusedInputKeepsNothing) {
  OutputTree outputs = tree("{stem}{rank}", {{1}, {11}, {111}});
  const auto reason = [&](const fs::path& input) {
    return failure_of([&] { outputs.claim(input); }).reason;
  };
  EXPECT_EQ(reason("a111"), Reason::none);            // a1111, a11111, a111111
  EXPECT_EQ(reason("a1"), Reason::output_collision);  // a11, a111, a1111
  EXPECT_EQ(reason("a"), Reason::none);               // a1, a11, a111
}

TEST(OutputTree, OneOfManyThreadsGetsAName) {
  OutputTree outputs = tree("{stem}.{ext}");
  std::atomic<int> given{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const fs::path input = std::to_string(i) + ".png";
        if (failure_of([&] { outputs.claim(input); }).reason == Reason::none) ++given;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(given, 100);
}

class OutputRoot : public testing::Test {
 protected:
  OutputRoot() { fs::create_directory(in_); }

  /// The code and the message of the refusal; code ok where there is none.
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

TEST_F(OutputRoot, IsMadeAndLeftEmpty) {
  EXPECT_EQ(refusal(out_ / "a" / "b", {in_}).first, ExitCode::ok);
  EXPECT_TRUE(fs::is_empty(out_ / "a" / "b"));
  EXPECT_FALSE(prepare_output_root(out_)) << "this file system tells A from a";
  EXPECT_EQ(refusal(out_ / "a" / "b", {in_}).first, ExitCode::ok) << "once more";
}

TEST_F(OutputRoot, InsideAnInputIsRefusedWithBothNames) {
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
  EXPECT_TRUE(fs::is_empty(in_)) << "nothing was made";
}

TEST_F(OutputRoot, BesideOrAboveAnInputIsTaken) {
  EXPECT_EQ(refusal(folder_.path() / "in2", {in_}).first, ExitCode::ok);
  EXPECT_EQ(refusal(folder_.path(), {in_}).first, ExitCode::ok);
}

TEST_F(OutputRoot, RelativePathsAreComparedToo) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_EQ(refusal("in/new", {"in"}).first, ExitCode::usage);
  EXPECT_EQ(refusal("in", {in_}).first, ExitCode::usage);
  EXPECT_EQ(refusal("new", {"in"}).first, ExitCode::ok);
  EXPECT_EQ(refusal("new", {"."}).first, ExitCode::usage);
  fs::current_path(before);
}

TEST_F(OutputRoot, ThatCannotBeMadeIsNamed) {
  std::ofstream(out_) << "a file";
  for (const fs::path& root : {out_, out_ / "below"}) {
    const auto [code, message] = refusal(root, {in_});
    EXPECT_EQ(code, ExitCode::cannot_create);
    EXPECT_THAT(message, HasSubstr(root.string()));
    EXPECT_THAT(message, HasSubstr("Not a directory"));
  }
}

TEST_F(OutputRoot, WithoutPermissionSaysSo) {
  fs::create_directory(out_);
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(out_, fs::perms(0555));
  if (::geteuid() == 0 && ::seteuid(65534) != 0) {
    GTEST_SKIP() << "root may write everywhere, and cannot become nobody here";
  }
  const ExitCode here = refusal(out_, {in_}).first;
  const ExitCode below = refusal(out_ / "below", {in_}).first;
  ASSERT_EQ(::seteuid(::getuid()), 0);
  EXPECT_EQ(here, ExitCode::no_permission);
  EXPECT_EQ(below, ExitCode::no_permission);
}

}  // namespace
}  // namespace eckart::io
