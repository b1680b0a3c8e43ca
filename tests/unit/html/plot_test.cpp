#include "html/plot.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <string>
#include <utility>

#include "html/style.hpp"

namespace eckart::html {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(AxisLabels, consists_of_round_numbers_inside_a_linear_axis) {
  EXPECT_THAT(axis_labels({.label = "", .max = 16}), ElementsAre(0, 5, 10, 15));
  EXPECT_THAT(axis_labels({.label = "", .max = 3, .min_step = 1}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(axis_labels({.label = "", .min = 0.85, .max = 1}),
              ElementsAre(DoubleEq(0.85), DoubleEq(0.9), DoubleEq(0.95), DoubleEq(1)));
}

TEST(AxisLabels, consists_of_powers_of_ten_on_a_logarithmic_axis) {
  EXPECT_THAT(
      axis_labels({.label = "", .min = 10, .max = 1e5, .is_logarithmic = true}),
      ElementsAre(DoubleEq(10), DoubleEq(100), DoubleEq(1e3), DoubleEq(1e4), DoubleEq(1e5)));
  EXPECT_THAT(
      axis_labels({.label = "", .min = 1, .max = 60, .is_logarithmic = true}),
      ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(5), DoubleEq(10), DoubleEq(20), DoubleEq(50)));
  EXPECT_THAT(axis_labels({.label = "", .min = 520, .max = 900, .is_logarithmic = true}),
              ElementsAre(600, 700, 800, 900));
  EXPECT_THAT(axis_labels({.label = "", .min = 1e-12, .max = 1e5, .is_logarithmic = true}),
              SizeIs(9));
}

TEST(Plot, draws_powers_of_ten_at_equal_distances) {
  const PlotSeries points{.label = "points",
                          .css_class = "c1",
                          .style = PlotSeries::Style::points,
                          .points = {{1, 1}, {10, 1}, {100, 1}},
                          .names = {"a", "b < c", "d"}};
  const std::string svg =
      to_svg(Plot{.title = "A <plot>",
                  .x = {.label = "x", .min = 1, .max = 100, .is_logarithmic = true},
                  .y = {.label = "y", .max = 2},
                  .series = {points},
                  .marks = {{10, "ten"}}});
  EXPECT_THAT(svg, HasSubstr("aria-label='A &lt;plot&gt;'"));
  EXPECT_THAT(svg, HasSubstr("cx='64.0'"));   // the left end of the axis
  EXPECT_THAT(svg, HasSubstr("cx='264.0'"));  // the middle
  EXPECT_THAT(svg, HasSubstr("cx='464.0'"));
  EXPECT_THAT(svg, HasSubstr("<title>b &lt; c</title>"));
  EXPECT_THAT(svg, HasSubstr("<path class='mark' d='M264.0 12.0V272.0'/>"));
  EXPECT_THAT(svg, HasSubstr(">ten</text>"));
  EXPECT_THAT(svg, HasSubstr("<text x='14' y='142.0' text-anchor='middle'"));  // of the y axis
}

TEST(AxisLabel, has_a_unit_of_thousands_or_millions_from_ten_thousand_on) {
  for (const auto& [value, text] : {std::pair{0.0, "0"},
                                    {0.5, "0.5"},
                                    {12.0, "12"},
                                    {-3.0, "-3"},
                                    {9999.0, "9999"},
                                    {1e4, "10k"},
                                    {25500.0, "25.5k"},
                                    {999e3, "999k"},
                                    {1e6, "1M"},
                                    {2.5e7, "25M"}})
    EXPECT_EQ(format_axis_label(value), text);
}

TEST(AxisLabels, has_about_four_steps_of_1_2_or_5) {
  EXPECT_THAT(axis_labels({.label = "", .max = 4}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(axis_labels({.label = "", .max = 8}), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(axis_labels({.label = "", .max = 40.1}), ElementsAre(0, 20, 40));
  EXPECT_THAT(axis_labels({.label = "", .min = 3, .max = 21}), ElementsAre(5, 10, 15, 20));
  EXPECT_THAT(axis_labels({.label = "", .min = -10, .max = 10}), ElementsAre(-10, -5, 0, 5, 10));
  EXPECT_THAT(axis_labels({.label = "", .max = 0.3, .min_step = 1}), ElementsAre(0));
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
  char begin[96];
  std::snprintf(begin, sizeof begin, "<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y,
                anchor.c_str());
  return begin + text + "</text>";
}

/// The whole drawing: axes of 0 to 4 and 0 to 2, a line with a band, a dotted and a dashed line.
TEST(Plot, draws_axes_lines_bands_and_a_legend) {
  PlotSeries line{.label = "<line>",
                  .css_class = "c1",
                  .points = {{0, 0}, {2, 1}, {4, 2}},
                  .band = {{0, 0.5}, {0.5, 1.5}, {1, 2}}};
  PlotSeries dotted{
      .label = "dots", .css_class = "c2", .style = PlotSeries::Style::dotted, .points = {{1, 2}}};
  PlotSeries dashed = dotted;
  dashed.label = "dashes";
  dashed.style = PlotSeries::Style::dashed;
  PlotSeries points{
      .label = "points", .css_class = "c3", .style = PlotSeries::Style::points, .points = {{4, 0}}};
  std::string expected =
      "<figure><h3>A &amp; B</h3><svg viewBox='0 0 480 320' role='img' aria-label='A &amp; B'>";
  for (const auto& [y, text] :
       {std::pair{272.0, "0"}, {207.0, "0.5"}, {142.0, "1"}, {77.0, "1.5"}, {12.0, "2"}}) {
    char grid[96];
    std::snprintf(grid, sizeof grid, "<path class='grid' d='M64.0 %.1fH464.0'/>", y);
    expected += grid + text_at(58, y + 4, "end", text);
  }
  for (const auto& [x, text] :
       {std::pair{64.0, "0"}, {164.0, "1"}, {264.0, "2"}, {364.0, "3"}, {464.0, "4"}})
    expected += text_at(x, 290, "middle", text);
  expected += "<path class='axis' d='M64.0 12.0V272.0H464.0'/>" +
              text_at(264, 312, "middle", "x &lt;") +
              "<text x='14' y='142.0' text-anchor='middle' transform='rotate(-90 14 142.0)'>y "
              "&gt;</text>"
              "<svg x='64' y='0' width='416' height='272' viewBox='64 0 416 272'>"
              "<path class='mark' d='M164.0 12.0V272.0'/><text class='mark' x='160.0' y='268.0' "
              "transform='rotate(-90 160.0 268.0)'>&lt;one&gt;</text>"
              "<polygon class='c1 band' points='64.0,272.0 264.0,207.0 464.0,142.0 464.0,12.0 "
              "264.0,77.0 64.0,207.0 '/>"
              "<polyline class='c1' points='64.0,272.0 264.0,142.0 464.0,12.0 '/>"
              "<polyline class='c2 dotted' points='164.0,12.0 '/>"
              "<polyline class='c2 dashed' points='164.0,12.0 '/>"
              "<circle class='c3' cx='464.0' cy='272.0' r='5'></circle></svg></svg><figcaption>";
  for (const auto& [mark, text] : {std::pair{"<path class='c1' d='M1 6H27'/>", "&lt;line&gt;"},
                                   {"<path class='c2 dotted' d='M1 6H27'/>", "dots"},
                                   {"<path class='c2 dashed' d='M1 6H27'/>", "dashes"},
                                   {"<circle class='c3' cx='14' cy='6' r='5'/>", "points"}}) {
    expected += std::string("<span><svg class='key' viewBox='0 0 28 12' aria-hidden='true'>") +
                mark + "</svg>" + text + "</span>";
  }
  EXPECT_EQ(to_svg(Plot{.title = "A & B",
                        .x = {.label = "x <", .max = 4},
                        .y = {.label = "y >", .max = 2},
                        .series = {line, dotted, dashed, points},
                        .marks = {{1, "<one>"}}}),
            expected + "</figcaption></figure>\n");
}

/// Values at or below zero are far to the left of the axis, where they are not drawn.
TEST(Plot, draws_zero_outside_a_logarithmic_axis) {
  const PlotSeries line{.label = "", .css_class = "c1", .points = {{0, 1}, {1, 1}, {1000, 0}}};
  EXPECT_THAT(to_svg(Plot{.title = "",
                          .x = {.label = "", .min = 1, .max = 1000, .is_logarithmic = true},
                          .y = {.label = "", .min = 1, .max = 3},
                          .series = {line}}),
              HasSubstr("points='-336.0,272.0 64.0,272.0 464.0,402.0 '"));
}

TEST(Bar, has_a_label_a_length_and_a_text) {
  EXPECT_EQ(to_svg("A <", {{.label = "one <", .text = "50 & %", .share = 0.5},
                           {.label = "two", .text = "0", .share = 0, .is_highlighted = true},
                           {.label = "three", .text = "many", .share = 7}}),
            "<figure><h3>A &lt;</h3><svg viewBox='0 0 480 110' role='img' aria-label='A &lt;'>" +
                text_at(122, 22, "end", "one &lt;") +
                "<rect class='track' x='130' y='6' width='270.0' height='22' rx='3'/>"
                "<rect class='bar c1' x='130' y='6' width='135.0' height='22' rx='3'/>" +
                text_at(408, 22, "start", "50 &amp; %") + text_at(122, 56, "end", "two") +
                "<rect class='track' x='130' y='40' width='270.0' height='22' rx='3'/>"
                "<rect class='bar c2' x='130' y='40' width='1.1' height='22' rx='3'/>" +
                text_at(408, 56, "start", "0") + text_at(122, 90, "end", "three") +
                "<rect class='track' x='130' y='74' width='270.0' height='22' rx='3'/>"
                "<rect class='bar c1' x='130' y='74' width='270.0' height='22' rx='3'/>" +
                text_at(408, 90, "start", "many") + "</svg></figure>\n");
}

/// Otherwise a browser fills the area between a line and the straight line between its ends.
TEST(Plot, has_lines_that_are_not_filled) {
  const std::string style = kStyle;
  const std::size_t rule = style.find("svg polyline");
  ASSERT_NE(rule, style.npos);
  EXPECT_THAT(style.substr(rule, style.find('}', rule) - rule), HasSubstr("fill: none"));
}

}  // namespace
}  // namespace eckart::html
