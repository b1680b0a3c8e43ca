#include "html/plot.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "html/page.hpp"

namespace eckart::html {
namespace {

constexpr double kWidth = 480, kHeight = 320, kLeft = 64, kRight = 16, kTop = 12, kBottom = 48;

/// Returns 1, 2 or 5 times a power of ten, so that there are about four steps in `range`.
double axis_step(double range) {
  const double rough = range / 4, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::vector<double> linear_labels(const Axis& axis) {
  const double step = std::max(axis.min_step, axis_step(axis.max - axis.min));
  const double slack = 1e-3 * (axis.max - axis.min);
  std::vector<double> labels;
  const double first = std::ceil((axis.min - slack) / step) + 0.0;  // 0 instead of -0
  for (double i = first; i * step <= axis.max + slack; ++i) labels.push_back(i * step);
  return labels;
}

/// Powers of ten; between few of them, also 2 and 5 times a power; if that is fewer than two, equal
/// steps.
std::vector<double> logarithmic_labels(const Axis& axis) {
  constexpr double kMaxDecadesOfAll = 8, kMaxDecadesOfFives = 3, kSlack = 1e-9;
  const double first = std::log10(axis.min) - kSlack, last = std::log10(axis.max) + kSlack;
  const int step = last - first > kMaxDecadesOfAll ? 2 : 1;
  std::vector<double> labels;
  for (int power = int(std::floor(first)); power <= last; power += step) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = power + std::log10(factor);
      if (at >= first && at <= last && (factor == 1 || last - first < kMaxDecadesOfFives))
        labels.push_back(factor * std::pow(10, power));
    }
  }
  if (labels.size() < 2) return linear_labels(axis);
  return labels;
}

/// The place of a value on the axis: 0 is its begin, 1 its end.
double share(const Axis& axis, double value) {
  if (!axis.is_logarithmic) return (value - axis.min) / (axis.max - axis.min);
  return std::log(std::max(value, 1e-3 * axis.min) / axis.min) / std::log(axis.max / axis.min);
}

/// Maps the points of a plot to coordinates of the drawing.
struct PlotArea {
  const Axis &x_axis, &y_axis;
  double x(double value) const { return kLeft + share(x_axis, value) * (kWidth - kLeft - kRight); }
  double y(double value) const {
    return kHeight - kBottom - share(y_axis, value) * (kHeight - kTop - kBottom);
  }
  std::string at(double px, double py) const { return fmt::format("{:.1f},{:.1f} ", x(px), y(py)); }
};

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>", x, y, anchor,
                     escape(text));
}

std::string title_of(const Axis& axis) {
  return axis.is_logarithmic ? axis.label + ", logarithmic" : axis.label;
}

std::string begin_figure(const std::string& title, double height) {
  return fmt::format("<figure><h3>{0}</h3><svg viewBox='0 0 {1} {2}' role='img' aria-label='{0}'>",
                     escape(title), kWidth, height);
}

std::string axes(const Plot& plot, const PlotArea& frame) {
  std::string svg;
  for (const double y : axis_labels(plot.y)) {
    svg += fmt::format("<path class='grid' d='M{:.1f} {:.1f}H{:.1f}'/>", kLeft, frame.y(y),
                       kWidth - kRight);
    svg += label(kLeft - 6, frame.y(y) + 4, "end", format_axis_label(y));
  }
  for (const double x : axis_labels(plot.x))
    svg += label(frame.x(x), kHeight - kBottom + 18, "middle", format_axis_label(x));
  svg += fmt::format("<path class='axis' d='M{:.1f} {:.1f}V{:.1f}H{:.1f}'/>", kLeft, kTop,
                     kHeight - kBottom, kWidth - kRight);
  svg += label((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", title_of(plot.x));
  const double middle = (kTop + kHeight - kBottom) / 2;
  svg += fmt::format(
      "<text x='14' y='{0:.1f}' text-anchor='middle' transform='rotate(-90 14 {0:.1f})'>{1}</text>",
      middle, escape(title_of(plot.y)));
  return svg;
}

/// The label reads upward, left of the line, from the horizontal axis on.
std::string draw_mark(const PlotMark& mark, const PlotArea& frame) {
  const double x = frame.x(mark.x);
  return fmt::format(
      "<path class='mark' d='M{0:.1f} {1:.1f}V{2:.1f}'/><text class='mark' x='{3:.1f}' y='{4:.1f}' "
      "transform='rotate(-90 {3:.1f} {4:.1f})'>{5}</text>",
      x, kTop, kHeight - kBottom, x - 4, kHeight - kBottom - 4, escape(mark.label));
}

std::string line_class(const PlotSeries& series) {
  if (series.style == PlotSeries::Style::dashed) return series.css_class + " dashed";
  return series.style == PlotSeries::Style::dotted ? series.css_class + " dotted"
                                                   : series.css_class;
}

std::string draw_series(const PlotSeries& series, const PlotArea& frame) {
  std::string svg;
  if (series.style == PlotSeries::Style::points) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto& [x, y] = series.points[i];
      svg += fmt::format("<circle class='{}' cx='{:.1f}' cy='{:.1f}' r='5'>", series.css_class,
                         frame.x(x), frame.y(y));
      if (!series.names.empty()) svg += "<title>" + escape(series.names[i]) + "</title>";
      svg += "</circle>";
    }
    return svg;
  }
  std::string line, band;
  for (const auto& [x, y] : series.points) line += frame.at(x, y);
  for (std::size_t i = 0; i < series.band.size(); ++i) {
    band += frame.at(series.points[i].first, series.band[i].first);
  }
  for (std::size_t i = series.band.size(); i-- > 0;) {
    band += frame.at(series.points[i].first, series.band[i].second);
  }
  if (!band.empty())
    svg += fmt::format("<polygon class='{} band' points='{}'/>", series.css_class, band);
  return svg + fmt::format("<polyline class='{}' points='{}'/>", line_class(series), line);
}

/// Returns the names of the series in HTML, each after a sample of its line.
std::string legend(const Plot& plot) {
  std::string html = "<figcaption>";
  for (const PlotSeries& series : plot.series) {
    const std::string mark =
        series.style == PlotSeries::Style::points
            ? fmt::format("<circle class='{}' cx='14' cy='6' r='5'/>", series.css_class)
            : fmt::format("<path class='{}' d='M1 6H27'/>", line_class(series));
    html += fmt::format(
        "<span><svg class='key' viewBox='0 0 28 12' aria-hidden='true'>{}</svg>{}</span>", mark,
        escape(series.label));
  }
  return html + "</figcaption>";
}

}  // namespace

std::string format_axis_label(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  return value >= 1e4 ? fmt::format("{:g}k", value / 1e3) : fmt::format("{:g}", value);
}

std::vector<double> axis_labels(const Axis& axis) {
  return axis.is_logarithmic ? logarithmic_labels(axis) : linear_labels(axis);
}

std::string to_svg(const Plot& plot) {
  const PlotArea frame{plot.x, plot.y};
  std::string svg = begin_figure(plot.title, kHeight) + axes(plot, frame);
  // The nested svg element clips everything outside the axes.
  svg += fmt::format("<svg x='{0}' y='0' width='{1}' height='{2}' viewBox='{0} 0 {1} {2}'>", kLeft,
                     kWidth - kLeft, kHeight - kBottom);
  for (const PlotMark& mark : plot.marks) svg += draw_mark(mark, frame);
  for (const PlotSeries& series : plot.series) svg += draw_series(series, frame);
  return svg + "</svg></svg>" + legend(plot) + "</figure>\n";
}

std::string to_svg(const std::string& title, const std::vector<Bar>& bars) {
  constexpr double kRow = 34, kBar = 22, kBarLeft = 130, kBarWidth = 270;
  std::string svg = begin_figure(title, kRow * double(bars.size()) + 8);
  double y = 6;
  for (const Bar& bar : bars) {
    const auto rect = [&](const char* css_class, double share) {
      return fmt::format("<rect class='{}' x='{}' y='{}' width='{:.1f}' height='{}' rx='3'/>",
                         css_class, kBarLeft, y, share * kBarWidth, kBar);
    };
    svg += label(kBarLeft - 8, y + 16, "end", bar.label) + rect("track", 1);
    svg += rect(bar.is_highlighted ? "bar c2" : "bar c1", std::clamp(bar.share, 0.004, 1.0));
    svg += label(kBarLeft + kBarWidth + 8, y + 16, "start", bar.text);
    y += kRow;
  }
  return svg + "</svg></figure>\n";
}

}  // namespace eckart::html
