// Formats of inputs and outputs, and alpha.
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/bmp_maker.hpp"
#include "tests/unit/codec/dicom_maker.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"
#include "tests/unit/codec/tiff_maker.hpp"

namespace eckart::test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr auto kFullRank = "100000";

class FormatTest : public CliTest {
 protected:
  static std::vector<std::byte> encoded_as(OutputFormat format, const Image& image) {
    return codec::codec_for(format).encode(image, {});
  }
  Picture picture(const fs::path& relative) const {
    const auto file = io::read_file(at(relative), 1024);
    return codec::detect_codec(file).decode(file, {});
  }
  ProcessResult run_all(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", kFullRank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(FormatTest, is_read_without_loss) {
  const Image gray = noise_image({20, 30, 1, Depth::u16}),
              color = noise_image({20, 30, 3, Depth::u8});
  write("in/gray.tif", encoded_as(OutputFormat::tiff, gray));
  write("in/color.tiff", encoded_as(OutputFormat::tiff, color));
  write("in/gray.pgm", encoded_as(OutputFormat::pnm, gray));
  write("in/color.ppm", encoded_as(OutputFormat::pnm, color));
  write("in/color.webp", encoded_as(OutputFormat::webp, color));
  write("in/small.bmp", BmpMaker(2, 1, 24).pixels("cbafed\0\0"sv).file());
  const ProcessResult result = run_all({"--set", "output.name={name}.png"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(files("out"), ElementsAre("color.ppm.png", "color.tiff.png", "color.webp.png",
                                        "gray.pgm.png", "gray.tif.png", "small.bmp.png"));
  for (const char* name : {"gray.tif", "gray.pgm"})
    EXPECT_TRUE(same(decode("out/"s + name + ".png"), gray)) << name;
  for (const char* name : {"color.tiff", "color.ppm", "color.webp"})
    EXPECT_TRUE(same(decode("out/"s + name + ".png"), color)) << name;
  EXPECT_EQ(sample(decode("out/small.bmp.png"), 0, 1, 2), 'f');
}

TEST_F(FormatTest, is_written_without_loss) {
  const Image gray = noise_image({20, 30, 1, Depth::u16}),
              color = noise_image({20, 30, 3, Depth::u8});
  write("in/gray.png", encoded_as(OutputFormat::png, gray));
  write("in/color.png", encoded_as(OutputFormat::png, color));
  for (const auto& [format, extension] :
       {std::pair{"tiff", "tif"}, {"pnm", "pnm"}, {"png", "png"}}) {
    EXPECT_EQ(run({"run", "in", "-o", format, "-k", kFullRank, "--format", format}).code, 0);
    EXPECT_TRUE(same(decode(format + "/gray."s + extension), gray)) << format;
    EXPECT_TRUE(same(decode(format + "/color."s + extension), color)) << format;
  }
}

TEST_F(FormatTest, is_webp_for_8_bits_only) {
  const Image color = noise_image({20, 30, 3, Depth::u8});
  write("in/color.png", encoded_as(OutputFormat::png, color));
  write("in/wide.png", encoded_as(OutputFormat::png, noise_image({20, 30, 1, Depth::u16})));
  const ProcessResult result = run_all({"--format", "webp"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "in/wide.png: "),
              HasSubstr("WebP does not support 16-bit samples; use output.format=png (not "
                        "encodable, in load)"));
  EXPECT_TRUE(same(decode("out/color.webp"), color));
  const auto lossless = fs::file_size(at("out/color.webp"));
  EXPECT_EQ(run({"run", "in/color.png", "-o", "small", "-k", kFullRank, "--format", "webp", "--set",
                 "output.webp_quality=50"})
                .code,
            0);
  EXPECT_LT(fs::file_size(at("small/color.webp")), lossless);
}

TEST_F(FormatTest, is_dicom_of_which_samples_stay_as_they_are_stored) {
  write("in/a.dcm", DicomMaker(12)
                        .text(DicomMaker::kSlope, "2")
                        .text(DicomMaker::kIntercept, "-1024")
                        .text(DicomMaker::kWindowCenter, "+40")
                        .pixels("\1\2\xFF\x0F"sv)
                        .file());
  const ProcessResult result = run_all({"-v", "--report", "r.jsonl"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(samples(decode("out/a.png")), ElementsAre(0x201, 0xFFF));
  EXPECT_THAT(line_containing(result.err, "in/a.dcm: "),
              HasSubstr("12 bits stored, value = 2 x sample - 1024"));
  EXPECT_THAT(as_string(io::read_file(at("r.jsonl"), 1024)),
              AllOf(HasSubstr(R"("peak":4095.0,"peak_source":"bits_stored")"),
                    HasSubstr(R"("rescale_slope":2.0,"rescale_intercept":-1024.0,)"
                              R"("window_center":40.0,"window_width":null)")));
}

TEST_F(FormatTest, is_refused_as_output_if_it_is_only_read) {
  const ProcessResult result = run_all({"--set", "output.format=bmp"});
  EXPECT_EQ(result.code, 78);
  EXPECT_THAT(result.err,
              HasSubstr("output.format: 'bmp' is not one of png, jpeg, tiff, webp, pnm, none"));
}

TEST_F(FormatTest, is_named_if_it_is_not_supported) {
  write("in/photo.png",
        "\0\0\0\x18"
        "ftypheic\0\0\0\0mif1heic"s);
  write("in/scan.tif",
        TiffMaker(1, 1, 64, 1, 1).set(TiffMaker::kSampleFormat, {3}).pixels("12345678").file());
  write("in/other.heic",
        "\0\0\0\x18"
        "ftypheic\0\0\0\0mif1heic"s);
  write_png("in/good.png");
  const ProcessResult result = run_all({"-v"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("in/other.heic: not read: the extension is not that of"));
  EXPECT_THAT(
      line_containing(result.err, "in/photo.png: "),
      AllOf(HasSubstr(": HEIC; supported formats: png, "), HasSubstr("(unsupported, in load)")));
  EXPECT_THAT(line_containing(result.err, "in/scan.tif: "),
              HasSubstr("64-bit floating point samples"));
  EXPECT_THAT(result.out + result.err, HasSubstr("1 .heic"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

class TransparentImageTest : public FormatTest {};

/// One half transparent pixel.
std::vector<std::byte> transparent_png() {
  return PngMaker(1, 1, 8, 6).pixels("\0\x0A\x14\x1E\x80"sv).end();
}

TEST_F(TransparentImageTest, keeps_its_alpha) {
  write("in/a.png", transparent_png());
  for (const auto& [format, name] :
       {std::pair{"png", "a.png"}, {"tiff", "a.tif"}, {"webp", "a.webp"}}) {
    EXPECT_EQ(run({"run", "in", "-o", format, "-k", "1", "--format", format}).code, 0);
    const Picture kept = picture(fs::path(format) / name);
    ASSERT_FALSE(kept.alpha.empty()) << format;
    EXPECT_EQ(sample(kept.alpha, 0, 0, 0), 0x80) << format;
    EXPECT_EQ(sample(kept.pixels, 0, 0, 2), 0x1E) << format;
  }
}

TEST_F(TransparentImageTest, is_refused_with_advice_by_formats_without_alpha) {
  write("in/a.png", transparent_png());
  const ProcessResult result = run_all({"--format", "jpeg"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(
      line_containing(result.err, "in/a.png: "),
      HasSubstr("JPEG has no alpha channel; use input.alpha=white, or another output.format "
                "(not encodable, in load)"));
}

TEST_F(TransparentImageTest, is_composed_on_white_when_asked) {
  write("in/a.png", transparent_png());
  EXPECT_EQ(run_all({"--set", "input.alpha=white"}).code, 0);
  const Picture white = picture("out/a.png");
  EXPECT_TRUE(white.alpha.empty());
  EXPECT_EQ(sample(white.pixels, 0, 0, 0), 132) << "(10 x 128 + 255 x 127) / 255";
}

TEST_F(TransparentImageTest, is_refused_when_asked) {
  write("in/a.png", transparent_png());
  write_png("in/good.png");
  const ProcessResult result = run_all({"--set", "input.alpha=fail"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "in/a.png: "),
              HasSubstr("has transparent pixels; use input.alpha=keep or input.alpha=white "
                        "(unsupported, in load)"));
}

}  // namespace
}  // namespace eckart::test
