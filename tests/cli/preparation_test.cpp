// Preparation of inputs: gray, size and normalization, in a run and in a service.
#include "core/preparation.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "preparation/preparer.hpp"
#include "tests/cli/watch_fixture.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {
namespace {

const Preparation kCourse{
    .gray = true, .size = TargetSize::exactly(64, 48), .normalize = Normalization::minmax};

class PreparationTest : public WatchTest {
 protected:
  void SetUp() override { write("in/a.jpg", encoded("jpeg", 120, 90, 3)); }

  ProcessResult run_with(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "--backend", "cpu", "-k", "1000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  /// Returns the prepared image of the input.
  Image prepared(const Preparation& preparation) const {
    Picture picture;
    picture.pixels = decode("in/a.jpg");
    return preparation::Preparer(preparation).prepare(std::move(picture)).pixels;
  }
};

TEST_F(PreparationTest, is_done_before_the_decomposition) {
  ASSERT_EQ(run_with({"--gray", "--size", "64x48", "--normalize", "minmax"}).code, 0);
  const Image image = decode("out/a.png");
  EXPECT_EQ(image.shape(), (ImageShape{48, 64, 1, Depth::u8}));
  EXPECT_TRUE(same(image, prepared(kCourse))) << "full rank: the prepared image";
}

TEST_F(PreparationTest, may_be_set_without_flags) {
  write("course.yaml", "input: {gray: true, size: 64x48, normalize: minmax}\n");
  ASSERT_EQ(run_with({"--config", "course.yaml"}).code, 0);
  EXPECT_TRUE(same(decode("out/a.png"), prepared(kCourse)));
  const std::string printed =
      run({"run", "--config", "course.yaml", "--size", "max:50", "--print-config"}).out;
  EXPECT_THAT(printed, HasSubstr("  gray: true "));
  EXPECT_THAT(printed, HasSubstr("  size: \"max:50\" ")) << "the flag";
  EXPECT_THAT(printed, HasSubstr("  normalize: minmax "));
}

TEST_F(PreparationTest, keeps_the_ratio_below_a_maximum) {
  ASSERT_EQ(run_with({"--size", "max:60"}).code, 0);
  EXPECT_EQ(decode("out/a.png").shape(), (ImageShape{60, 45, 3, Depth::u8}));
}

TEST_F(PreparationTest, is_what_quality_and_rank_refer_to) {
  ASSERT_EQ(run({"run", "in", "-o", "out", "--backend", "cpu", "-k", "5,48", "--gray", "--size",
                 "64x48", "--report", "report.jsonl"})
                .code,
            0);
  const Image input = prepared({.gray = true, .size = TargetSize::exactly(64, 48)});
  EXPECT_TRUE(same(decode("out/a.k48.png"), input));
  double squared_error = 0;
  const Image output = decode("out/a.k5.png");
  for (int row = 0; row < 48; ++row) {
    for (int col = 0; col < 64; ++col) {
      const double error = sample(output, row, col, 0) - sample(input, row, col, 0);
      squared_error += error * error;
    }
  }
  std::ifstream report(at("report.jsonl"));
  for (std::string line; std::getline(report, line);) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["rows"], 48);
    EXPECT_EQ(json["cols"], 64);
    EXPECT_EQ(json["channels"], 1);
    if (json["rank"] == 5) {
      EXPECT_NEAR(json["psnr_db"].get<double>(),
                  10 * std::log10(255.0 * 255 * 48 * 64 / squared_error), 1e-3);
    }
  }
}

TEST_F(PreparationTest, counts_as_a_setting_of_outputs) {
  ASSERT_EQ(run_with({}).code, 0);
  const ProcessResult refused = run_with({"--gray", "--size", "max:60"});
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err, HasSubstr("out has 1 output made with other settings (gray none -> on, "
                                     "size none -> max:60)"));
  const ProcessResult dry = run_with({"--normalize", "minmax", "--dry-run", "--reprocess"});
  EXPECT_THAT(dry.out, HasSubstr("out/a.png: reprocessed (normalize none -> minmax)\n"));
  EXPECT_EQ(run_with({"--size", "max:60", "--reprocess"}).code, 0);
  EXPECT_EQ(decode("out/a.png").shape().rows, 60);
  EXPECT_THAT(run_with({"--size", "max:60"}).err, HasSubstr("1 skipped"));
  EXPECT_THAT(run_with({}).err, HasSubstr("(size max:60 -> none)"));
}

TEST_F(PreparationTest, is_refused_if_the_value_is_wrong) {
  const ProcessResult size = run_with({"--size", "256"});
  EXPECT_EQ(size.code, int(ExitCode::usage));
  EXPECT_THAT(size.err, HasSubstr("--size 256: input.size: '256' is not WIDTHxHEIGHT or max:N"));
  const ProcessResult normalization = run_with({"--normalize", "zscore"});
  EXPECT_EQ(normalization.code, int(ExitCode::usage));
  EXPECT_THAT(normalization.err, HasSubstr("zscore"));
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(PreparationTest, fails_an_image_whose_new_size_is_over_a_limit) {
  const ProcessResult result = run_with({"--size", "3000x2000", "--set", "limits.side=2500"});
  EXPECT_EQ(result.code, int(ExitCode::nothing_readable));
  EXPECT_THAT(result.err, HasSubstr("in/a.jpg: resized to 2000 x 3000 pixels (rows x columns) "
                                    "exceeds limits.side = 2500 (too large, in load)"));
}

TEST_F(PreparationTest, is_set_for_each_watch) {
  write("b/a.jpg", encoded("jpeg", 120, 90, 3));
  write("eckart.yaml", "backend: cpu\nrank: 1000\ninput: {gray: true}\nwatches:\n" +
                           watch("in", "out", "input.size: 64x48, input.normalize: minmax") +
                           watch("b", "out_b"));
  start();
  wait_for_outputs(1);
  wait_for_outputs(1, "out_b");
  EXPECT_EQ(stop().code, 0);
  EXPECT_TRUE(same(decode("out/a.png"), prepared(kCourse)));
  EXPECT_TRUE(same(decode("out_b/a.png"), prepared({.gray = true})));
}

TEST_F(PreparationTest, is_set_by_flags_of_watch) {
  service_ = std::make_unique<EckartProcess>(
      std::vector<std::string>{"watch", "in", "-o", "out", "-k", "1000", "--gray", "--size",
                               "64x48", "--normalize", "minmax", "--set", "backend=cpu"},
      EckartProcess::Options{.folder = at(".")});
  wait_for_outputs(1);
  EXPECT_EQ(stop().code, 0);
  EXPECT_TRUE(same(decode("out/a.png"), prepared(kCourse)));
}

}  // namespace
}  // namespace eckart::test
