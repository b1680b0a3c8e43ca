#include "inspection/report.hpp"

#include <gmock/gmock.h>

#include "synth/synth.hpp"
#include "text/json.hpp"

namespace eckart::inspection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

InspectedFile inspected() {
  const Image image =
      synth::synthesize({.kind = synth::SynthKind::texture, .rows = 48, .cols = 64, .channels = 3});
  return {.file = "folder/<b>&\".png",
          .format = ImageFormat::png,
          .file_bytes = 1234,
          .inspection = inspect(image, {.peak = {255},
                                        .ranks = {5, 48, {RankPolicy::Kind::psnr, 30}},
                                        .targets = {{RankPolicy::Kind::energy, 0.99}}}),
          .notes = {"A note <i>."}};
}

TEST(InspectionText, has_a_row_for_each_rank_and_target) {
  const std::string text = to_text(inspected());
  EXPECT_THAT(text, HasSubstr("PNG, 64 x 48 pixels (width x height), 3 channels, 8 bits, 1,234 "
                              "bytes (raw 9,216)"));
  EXPECT_THAT(text, HasSubstr("\n5 "));
  EXPECT_THAT(text, HasSubstr("\npsnr:30 "));
  EXPECT_THAT(text, HasSubstr("\nenergy:0.99 "));
  EXPECT_THAT(text, HasSubstr("exact"));  // rank 48
  EXPECT_THAT(text, HasSubstr("Break-even rank: 6. Its factors in float32 need 8,136 bytes, those "
                              "of rank 7 need 9,492, the pixels 9,216."));
  EXPECT_THAT(text, HasSubstr("A note <i>."));
}

TEST(InspectionText, counts_chroma_at_its_own_rank) {
  const Image image =
      synth::synthesize({.kind = synth::SynthKind::texture, .rows = 48, .cols = 64, .channels = 3});
  const auto sentence = [&](const RankPolicy& chroma_rank) {
    return break_even_sentence(inspect(image, {.peak = {255},
                                               .ranks = {},
                                               .targets = {},
                                               .color = ColorMode::ycbcr,
                                               .chroma_rank = chroma_rank}));
  };
  EXPECT_EQ(sentence(3),
            "Break-even rank: 14 with rank 3 of Cb and Cr. Its factors in float32 need 9,040 "
            "bytes, those of rank 15 need 9,492, the pixels 9,216.");
  EXPECT_EQ(sentence(30),
            "The factors of rank 1 with rank 30 of Cb and Cr already need more bytes than the "
            "pixels.");
  EXPECT_THAT(sentence({RankPolicy::Kind::psnr, 30}), HasSubstr("Break-even rank: 6."));
}

TEST(InspectionJson, has_null_for_an_infinite_psnr) {
  const auto json = text::Json::parse(to_json(inspected()));
  EXPECT_EQ(json["kind"], "inspection");
  EXPECT_TRUE(json["ranks"][1]["psnr_db"].is_null());
  EXPECT_GE(json["ranks"][2]["psnr_db"], 30);
  EXPECT_EQ(json["ranks"][2]["rank_spec"], "psnr:30");
  EXPECT_EQ(json["singular_values"].size(), 3U);
  EXPECT_EQ(json["curve"]["energy"].size(), 48U);
}

TEST(InspectionPage, is_one_file_with_escaped_names) {
  const std::string html = to_html(
      inspected(), {{.heading = "original", .detail = "", .uri = "data:image/jpeg;base64,AA=="},
                    {.heading = "rank <5>",
                     .detail = "PSNR",
                     .uri = "data:image/jpeg;base64,BB==",
                     .residual_uri = "data:image/jpeg;base64,CC==",
                     .residual_gain = 8}});
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt;&amp;&quot;.png</title>"));
  EXPECT_THAT(html, HasSubstr("A note &lt;i&gt;."));
  EXPECT_THAT(html, HasSubstr("alt='residual of rank &lt;5&gt;'"));
  EXPECT_THAT(html, HasSubstr("residual x 8"));
  for (const char* title : {"Singular values", "Energy kept", "Rate and distortion", "SSIM"})
    EXPECT_THAT(html, HasSubstr(std::string("aria-label='") + title + "'"));
  for (const char* external : {"http:", "https:", "<link", "<script", "src='/", "nan", "inf"})
    EXPECT_THAT(html, Not(HasSubstr(external)));
}

TEST(InspectionPage, has_bits_per_pixel_below_the_rate) {
  const std::string html = to_html(inspected(), {});
  const std::size_t begin = html.find("aria-label='Rate and distortion'");
  ASSERT_NE(begin, html.npos);
  const std::string plot = html.substr(begin, html.find("</svg>", begin) - begin);
  // Factors of rank 1 have 3.5 bits per pixel, those of rank 48 have 170.
  EXPECT_THAT(plot,
              AllOf(HasSubstr(">5</text>"), HasSubstr(">10</text>"), HasSubstr(">100</text>")));
  EXPECT_THAT(plot, Not(HasSubstr(">1</text>")));
}

}  // namespace
}  // namespace eckart::inspection
