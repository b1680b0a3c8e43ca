#include "html/plot.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace eckart::html
