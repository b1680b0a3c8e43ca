// Color images as luma, YCbCr or one joint matrix.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "core/quality.hpp"
#include "preparation/gray.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;

class ColorTest : public CliTest {
 protected:
  ProcessResult run_with(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run",       "in",  "-o",       "out",    "-q",
                                       "--backend", "cpu", "--report", "r.jsonl"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::vector<Json> report() {
    std::vector<Json> lines;
    std::ifstream file(at("r.jsonl"));
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  static Image as_floats(const Image& image) {
    ImageShape shape = image.shape();
    shape.depth = Depth::f32;
    Image floats(shape);
    for (std::size_t i = 0; i < shape.samples(); ++i)
      reinterpret_cast<float*>(floats.data())[i] = float(std::to_integer<int>(image.data()[i]));
    return floats;
  }
  Image luma_of(const fs::path& file) { return preparation::to_gray(decode(file)); }
};

/// The same samples as floats have matrices that are not rounded.
TEST_F(ColorTest, is_restored_after_the_decomposition_of_other_matrices) {
  write("in/a.png", encoded("png", 90, 120, 3));
  const Image in = decode("in/a.png");
  write("in/floats.tif", codec::codec_for(ImageFormat::tiff).encode(as_floats(in), {}));
  for (const std::string mode : {"luma", "ycbcr", "joint"}) {
    SCOPED_TRACE(mode);
    fs::remove_all(at("out"));
    fs::remove(at("r.jsonl"));
    ASSERT_EQ(
        run_with({"--color", mode, "--rank", "8,75,90", "--format", "tiff", "--peak", "255"}).code,
        0);
    EXPECT_TRUE(same(decode("out/a.k90.tif"), in)) << "full rank";
    const Image out = decode("out/a.k8.tif");
    std::map<std::string, Json> lines;
    for (const Json& each : report())
      lines[fs::path(each.at("output").get<std::string>()).filename()] = each;
    const auto unrounded_psnr_db = [&](const std::string& output) {
      return lines.at(output).at("psnr_before_rounding_db").get<double>();
    };
    EXPECT_NEAR(unrounded_psnr_db("a.k75.tif"), unrounded_psnr_db("floats.k75.tif"), kMaxLossDb);
    const Json& line = lines.at("a.k8.tif");
    const double squared_error = analysis::compare(in, out).squared_error;
    EXPECT_EQ(line.at("color"), mode);
    EXPECT_EQ(line.at("channels"), 3);
    EXPECT_NEAR(line.at("psnr_db").get<double>(), psnr_db(squared_error, in.shape().samples(), 255),
                1e-6);
    EXPECT_EQ(line.at("raw_bytes"), in.bytes());
    const int matrices = mode == "ycbcr" ? 3 : 1, cols = mode == "joint" ? 360 : 120;
    EXPECT_EQ(line.at("channel_ranks"), Json(std::vector(std::size_t(matrices), 8)));
    EXPECT_EQ(line.at("factor_bytes"), matrices * 8 * (90 + cols + 1) * 4);
  }
}

/// At rank 1 the largest singular value is the smallest that is kept.
TEST_F(ColorTest, reports_singular_values_in_levels_of_the_image) {
  write("in/a.png", encoded("png", 40, 60, 3));
  for (const std::string mode : {"luma", "ycbcr", "joint"}) {
    ASSERT_EQ(run_with({"--color", mode, "-k", "1", "--overwrite"}).code, 0);
    const Json line = report().front();
    const auto largest = line.at("sigma1").get<std::vector<double>>(),
               smallest_kept = line.at("sigma_threshold").get<std::vector<double>>();
    ASSERT_EQ(largest.size(), mode == "ycbcr" ? 3U : 1U);
    for (std::size_t i = 0; i < largest.size(); ++i)
      EXPECT_NEAR(smallest_kept[i], largest[i], 1e-6 * largest[i]) << mode;
  }
}

TEST_F(ColorTest, may_have_a_rank_of_its_own_for_chroma) {
  write("in/a.jpg", encoded("jpeg", 90, 120, 3));
  ASSERT_EQ(run_with({"--color", "ycbcr", "--rank", "psnr:30", "--chroma-rank", "3"}).code, 0);
  const Json line = report().front();
  const auto ranks = line.at("channel_ranks").get<std::vector<int>>();
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[1], 3);
  EXPECT_EQ(ranks[2], 3);
  EXPECT_EQ(line.at("rank_spec"), "psnr:30");
  const Image before = luma_of("in/a.jpg"), after = luma_of("out/a.png");
  const double luma_psnr_db =
      psnr_db(analysis::compare(before, after).squared_error, before.shape().samples(), 255);
  EXPECT_NEAR(luma_psnr_db, 30, 0.3);

  fs::remove(at("r.jsonl"));
  const ProcessResult other =
      run_with({"--color", "ycbcr", "--rank", "psnr:30", "--chroma-rank", "4"});
  EXPECT_THAT(other.err, HasSubstr("chroma_rank 3 -> 4"));
  const ProcessResult wrong = run_with({"--chroma-rank", "3"});
  EXPECT_EQ(wrong.code, 64);
  EXPECT_THAT(wrong.err, HasSubstr("chroma_rank is set, but color is channels, not ycbcr"));
}

}  // namespace
}  // namespace eckart::test
