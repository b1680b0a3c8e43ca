#include "inspection/report.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>

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

/// With a value of its own in each field.
InspectedFile made_up_file() {
  InspectedFile of{.file = "folder/a\n.tif", .format = ImageFormat::tiff, .file_bytes = 7654321};
  Inspection& inspection = of.inspection;
  inspection.shape = {30, 40, 3, Depth::u16};
  inspection.color = ColorMode::ycbcr;
  inspection.matrices = {30, 40, 3, Depth::u16};
  inspection.peak = {4095, PeakSource::bits_stored};
  inspection.break_even_rank = 8;
  inspection.ranks = {{.policy = 5,
                       .channel_ranks = {5, 3, 4},
                       .energy = 0.987654,
                       .psnr_before_rounding_db = 41.23456,
                       .psnr_db = 40.12345,
                       .ssim = 0.98765,
                       .rmse = 1.2345678,
                       .factor_bytes = 3408},
                      {.policy = 30,
                       .channel_ranks = {30, 30, 30},
                       .energy = 1,
                       .psnr_before_rounding_db = std::numeric_limits<double>::infinity(),
                       .psnr_db = std::numeric_limits<double>::infinity(),
                       .ssim = std::numeric_limits<double>::quiet_NaN(),
                       .rmse = 0,
                       .factor_bytes = 25560}};
  inspection.targets = {{.policy = {RankPolicy::Kind::energy, 0.99},
                         .channel_ranks = {12, 12, 12},
                         .energy = 0.990001,
                         .psnr_before_rounding_db = 44,
                         .psnr_db = 43,
                         .ssim = 0.99,
                         .rmse = 0.5,
                         .factor_bytes = 10224}};
  inspection.singular_values = {{100, 10}, {50, 5}, {20, 2}};
  inspection.curve = {{1, 0.5, 20, 852}, {2, 1, std::numeric_limits<double>::infinity(), 1704}};
  of.notes = {"A note.", "Another one."};
  return of;
}

TEST(InspectionText, has_every_figure_in_its_column) {
  EXPECT_EQ(to_text(made_up_file()),
            "folder/a\\n.tif: TIFF, 40 x 30 pixels (width x height), 3 channels as ycbcr, 16 bits, "
            "7,654,321 bytes (raw 7,200)\n"
            "peak 4095 (bits_stored)\n"
            "\n"
            "SPEC   rank   energy  PSNR dB  unrounded    SSIM   RMSE  factor bytes   of raw\n"
            "5     5 3 4  0.98765    40.12      41.23  0.9877  1.235         3,408   47.3 %\n"
            "30       30  1.00000    exact      exact       -  0.000        25,560  355.0 %\n"
            "\n"
            "target       rank   energy  PSNR dB  unrounded    SSIM   RMSE  factor bytes   of raw\n"
            "energy:0.99    12  0.99000    43.00      44.00  0.9900  0.500        10,224  142.0 %\n"
            "\n"
            "Break-even rank: 8. Its factors in float32 need 6,816 bytes, those of rank 9 need "
            "7,668, the pixels 7,200.\n"
            "A note.\n"
            "Another one.\n");
}

TEST(InspectionText, describes_a_picture) {
  const InspectedFile of = made_up_file();
  EXPECT_EQ(heading_text(of.inspection.ranks[0]), "rank 5 3 4");
  EXPECT_EQ(heading_text(of.inspection.targets[0]), "energy:0.99: rank 12");
  EXPECT_EQ(quality_text(of.inspection.ranks[0]), "PSNR 40.12 dB, SSIM 0.9877");
  EXPECT_EQ(quality_text(of.inspection.ranks[1]), "exact, SSIM -");
}

TEST(InspectionText, says_what_the_factors_of_luma_and_of_the_full_rank_need) {
  Inspection inspection = made_up_file().inspection;
  inspection.color = ColorMode::luma;
  inspection.matrices = {30, 40, 1, Depth::u16};
  EXPECT_EQ(break_even_sentence(inspection),
            "Break-even rank: 8. Its factors in float32 need 2,272 bytes, those of rank 9 need "
            "2,556, the luma 2,400.");
  inspection.break_even_rank = 30;
  EXPECT_EQ(break_even_sentence(inspection),
            "Break-even rank: 30. Its factors in float32 need 8,520 bytes, the luma 2,400.")
      << "no rank is larger";
  inspection.break_even_rank = 0;
  EXPECT_EQ(break_even_sentence(inspection),
            "The factors of rank 1 already need more bytes than the luma.");
}

TEST(InspectionJson, has_every_field) {
  EXPECT_EQ(text::Json::parse(to_json(made_up_file())), text::Json::parse(R"({
      "kind": "inspection", "file": "folder/a\n.tif", "format": "tiff",
      "rows": 30, "cols": 40, "channels": 3, "bits": 16, "color": "ycbcr",
      "source_bytes": 7654321, "raw_bytes": 7200,
      "peak": 4095.0, "peak_source": "bits_stored", "break_even_rank": 8,
      "ranks": [
        {"rank_spec": "5", "rank": 5, "channel_ranks": [5, 3, 4], "energy": 0.987654,
         "psnr_before_rounding_db": 41.23456, "psnr_db": 40.12345, "ssim": 0.98765,
         "rmse": 1.2345678, "factor_bytes": 3408, "factor_share": 0.47333333333333333},
        {"rank_spec": "30", "rank": 30, "channel_ranks": [30, 30, 30], "energy": 1.0,
         "psnr_before_rounding_db": null, "psnr_db": null, "ssim": null,
         "rmse": 0.0, "factor_bytes": 25560, "factor_share": 3.55}],
      "targets": [
        {"rank_spec": "energy:0.99", "rank": 12, "channel_ranks": [12, 12, 12],
         "energy": 0.990001, "psnr_before_rounding_db": 44.0, "psnr_db": 43.0, "ssim": 0.99,
         "rmse": 0.5, "factor_bytes": 10224, "factor_share": 1.42}],
      "singular_values": [[100.0, 10.0], [50.0, 5.0], [20.0, 2.0]],
      "curve": {"energy": [0.5, 1.0], "psnr_before_rounding_db": [20.0, null],
                "factor_bytes": [852, 1704]},
      "notes": ["A note.", "Another one."]})"));
}

TEST(InspectionPage, has_the_tables_the_names_of_the_matrices_and_the_pictures) {
  InspectedFile of = made_up_file();
  const std::string html =
      to_html(of, {{.heading = "original", .detail = "40 x 30", .uri = "data:a"},
                   {.heading = "rank 5",
                    .detail = "PSNR 40 dB",
                    .uri = "data:b",
                    .residual_uri = "data:c",
                    .residual_gain = 16}});
  for (const char* part :
       {"<h2>TIFF, 40 x 30 pixels (width x height), 3 channels as ycbcr, 16 bits, 7,654,321 bytes "
        "(raw 7,200)</h2>",
        "<p class='answer'>Break-even rank: 8. Its factors",
        "<p class='warning'>A note.</p>",
        "<p class='warning'>Another one.</p>",
        "with peak 4095 (bits_stored)",
        "47.3\u00a0%",
        "355.0\u00a0%",
        "3,408",
        "10,224",
        "1.235",
        "Ranks that common targets come to",
        "rank by",
        "target",
        ">Y<",
        ">Cb<",
        ">Cr<",
        "of Y, Cb and Cr, before rounding",
        "raw pixels",
        "src='data:a' alt='original'",
        "<strong>original</strong> 40 x 30",
        "src='data:b' alt='rank 5'",
        "<strong>rank 5</strong> PSNR 40 dB",
        "src='data:c' alt='residual of rank 5'",
        "residual x 16"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("residual of original")));
  const auto names_of = [&](ColorMode color, int channels) {
    of.inspection.color = color;
    of.inspection.shape.channels = channels;
    of.inspection.singular_values.resize(color == ColorMode::channels ? std::size_t(channels) : 1);
    const std::string page = to_html(of, {});
    std::string names;
    for (const char* name : {"red", "green", "blue", "gray", "luma", "joint", "Cb"}) {
      if (page.find(std::string(">") + name + "<") != page.npos) names += std::string(name) + " ";
    }
    return names;
  };
  EXPECT_EQ(names_of(ColorMode::channels, 3), "red green blue ");
  EXPECT_EQ(names_of(ColorMode::luma, 3), "luma ");
  EXPECT_THAT(to_html(of, {}), HasSubstr("raw luma"));
  EXPECT_EQ(names_of(ColorMode::joint, 3), "joint ");
  EXPECT_EQ(names_of(ColorMode::channels, 1), "gray ");
}

}  // namespace
}  // namespace eckart::inspection
