#pragma once

#include <string>
#include <utility>
#include <vector>

namespace eckart::html {

/// Plots as SVG in HTML. The style sheet of the page defines the colors of the classes c1 to c3,
/// one for each series.

struct PlotSeries {
  enum class Style { line, dashed, dotted, points };
  std::string label, css_class;  ///< a CSS class
  Style style = Style::line;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band = {};  ///< low and high at each point; may be empty
  /// Of the points, shown under the pointer if the style is `points`; may be empty.
  std::vector<std::string> names = {};
};

/// A vertical line with a name.
struct PlotMark {
  double x = 0;
  std::string label;
};

struct Axis {
  std::string label;
  double min = 0, max = 1;  ///< min < max; min > 0 if is_logarithmic
  bool is_logarithmic = false;
  double min_step = 0;  ///< the smallest distance of labels of a linear axis
};

/// Only what is inside the axes is drawn.
struct Plot {
  std::string title;
  Axis x, y;
  std::vector<PlotSeries> series;
  std::vector<PlotMark> marks = {};
};

struct Bar {
  std::string label, text;
  double share = 0;  ///< of the width
  bool is_highlighted = false;
};

/// Formats a number for an axis: 12, 0.5, 20k, 1.5M.
std::string format_axis_label(double value);

/// The values of the axis that have labels, ascending.
std::vector<double> axis_labels(const Axis& axis);

std::string to_svg(const Plot& plot);
std::string to_svg(const std::string& title, const std::vector<Bar>& bars);

}  // namespace eckart::html
