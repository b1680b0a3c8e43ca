// Images of floats, from file to file.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "analysis/ssim.hpp"
#include "core/quality.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;

class FloatRunTest : public CliTest {
 protected:
  /// A map of a physical quantity, such as heights in meters: some are negative.
  static Image heights(int channels) {
    const Image levels = synth::synthesize({.kind = synth::SynthKind::texture,
                                            .rows = 60,
                                            .cols = 80,
                                            .channels = channels,
                                            .depth = Depth::u16});
    ImageShape shape = levels.shape();
    shape.depth = Depth::f32;
    Image floats(shape);
    for (std::size_t i = 0; i < shape.samples(); ++i)
      reinterpret_cast<float*>(floats.data())[i] =
          float(reinterpret_cast<const std::uint16_t*>(levels.data())[i]) * 0.07F - 423.5F;
    return floats;
  }
  void write_tiff(const fs::path& relative, const Image& image) {
    write(relative, codec::codec_for(ImageFormat::tiff).encode(image, {}));
  }
  std::map<std::string, Json> lines(const fs::path& report) {
    std::ifstream stream(at(report));
    std::map<std::string, Json> lines;
    for (std::string text; std::getline(stream, text);) {
      const Json line = Json::parse(text);
      lines[line.contains("output") ? below_folder(line.at("output"))
                                    : line.at("input").get<std::string>()] = line;
    }
    return lines;
  }
};

TEST_F(FloatRunTest, keeps_floats_from_file_to_file) {
  const Image gray = heights(1), color = heights(3);
  write_tiff("in/gray.tif", gray);
  write_tiff("in/color.tif", color);
  const ProcessResult result = run({"run", "in", "-o", "out", "--rank", "10,psnr:40,full",
                                    "--format", "tiff", "--report", "r.jsonl", "--backend", "cpu"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::map<std::string, Json> report = lines("r.jsonl");
  EXPECT_EQ(report.size(), 6U);
  EXPECT_TRUE(same(decode("out/gray.full.tif"), gray));
  EXPECT_TRUE(same(decode("out/color.full.tif"), color));
  for (const Image* image : {&gray, &color}) {
    const std::string name = image == &gray ? "out/gray" : "out/color";
    const Image out = decode(name + ".k10.tif");
    EXPECT_EQ(out.shape(), image->shape());
    const analysis::Comparison difference = analysis::compare(*image, out);
    const double range = analysis::sample_range(*image);
    const Json& line = report.at(name + ".k10.tif");
    EXPECT_EQ(line.at("bits"), 32);
    EXPECT_EQ(line.at("peak_source"), "range");
    EXPECT_DOUBLE_EQ(line.at("peak").get<double>(), range);
    EXPECT_NEAR(line.at("psnr_db").get<double>(),
                psnr_db(difference.squared_error, out.shape().samples(), range), 1e-4);
    EXPECT_NEAR(line.at("ssim").get<double>(), analysis::ssim(*image, out, range), 1e-9);
    EXPECT_DOUBLE_EQ(line.at("max_error").get<double>(), difference.max_error);
    EXPECT_EQ(line.at("raw_bytes"), std::int64_t(image->bytes()));
    EXPECT_LE(line.at("loss_estimate_db").get<double>(), kMaxLossDb);
    EXPECT_GE(report.at(name + ".psnr-40.tif").at("psnr_db").get<double>(), 40);
  }
}

TEST_F(FloatRunTest, tells_what_floats_cannot_be) {
  write_tiff("in/a.tif", heights(1));
  const ProcessResult png = run({"run", "in", "-o", "png", "-k", "5", "--backend", "cpu"});
  EXPECT_THAT(
      png.err,
      AllOf(HasSubstr("a.tif"),
            HasSubstr("PNG does not support 32-bit float samples; use output.format=tiff")));
  const ProcessResult dtype = run({"run", "in", "-o", "dtype", "-k", "5", "--format", "tiff",
                                   "--peak", "dtype", "--backend", "cpu"});
  EXPECT_THAT(dtype.err, AllOf(HasSubstr("a.tif"), HasSubstr("quality.peak=dtype: float samples")));
}

TEST_F(FloatRunTest, shows_and_measures_floats) {
  const Image heights = this->heights(3);
  write_tiff("in/a.tif", heights);
  const ProcessResult inspected = run({"inspect", "in/a.tif", "-k", "10,full", "-o", "sheet.png"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_GT(decode("sheet.png").shape().cols, 0);
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "10", "--format", "tiff",
                                    "--report", "r.jsonl", "--backend", "cpu"});
  ASSERT_EQ(result.code, 0) << result.err;
  const double psnr = lines("r.jsonl").at("out/a.tif").at("psnr_db");
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", psnr);
  EXPECT_THAT(inspected.out, HasSubstr(text)) << "the same PSNR";
}

TEST_F(FloatRunTest, prepares_and_decomposes_colors_as_luma_and_chroma) {
  write_tiff("in/a.tif", heights(3));
  for (const char* color : {"ycbcr", "luma", "joint"}) {
    const std::string out = color;
    const ProcessResult result =
        run({"run", "in", "-o", out, "-k", "20", "--format", "tiff", "--size", "60x48", "--set",
             "color=" + out, "--report", out + ".jsonl", "--backend", "cpu"});
    ASSERT_EQ(result.code, 0) << result.err;
    const Image image = decode(out + "/a.tif");
    EXPECT_EQ(image.shape(), (ImageShape{48, 60, 3, Depth::f32}));
    EXPECT_GT(lines(out + ".jsonl").begin()->second.at("psnr_db").get<double>(), 25) << color;
  }
}

}  // namespace
}  // namespace eckart::test
