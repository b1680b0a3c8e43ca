#pragma once

#include <string>
#include <utility>
#include <vector>

namespace eckart::capacity {

/// Plots as SVG in HTML. The style sheet of the page defines the colors of the classes c1 to c3,
/// one for each series.

struct PlotSeries {
  enum class Style { line, dashed, dotted, points };
  std::string label, css_class;  ///< a CSS class
  Style style = Style::line;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band = {};  ///< low and high at each point; may be empty
};

struct Plot {
  std::string title, x_label, y_label;
  double x_max = 1, y_max = 1;  ///< both axes begin at 0
  std::vector<PlotSeries> series;
};

struct Bar {
  std::string label, text;
  double share = 0;  ///< of the width
  bool is_highlighted = false;
};

std::string escape_html(const std::string& text);  ///< for HTML
std::string to_svg(const Plot& plot);
std::string to_svg(const std::string& title, const std::vector<Bar>& bars);

}  // namespace eckart::capacity
