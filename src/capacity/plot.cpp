#include "capacity/plot.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/number_format.hpp"

namespace eckart::capacity {
namespace {

constexpr double kWidth = 480, kHeight = 320, kLeft = 64, kRight = 16, kTop = 12, kBottom = 48;

/// Returns 1, 2 or 5 times a power of ten, so that there are about four steps up to `max_value`.
double axis_step(double max_value) {
  const double rough = max_value / 4, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

/// Maps the points of a plot to coordinates of the drawing.
struct PlotArea {
  double x_max, y_max;
  double x(double value) const { return kLeft + value / x_max * (kWidth - kLeft - kRight); }
  double y(double value) const {
    return kHeight - kBottom - value / y_max * (kHeight - kTop - kBottom);
  }
  std::string at(double px, double py) const { return fmt::format("{:.1f},{:.1f} ", x(px), y(py)); }
};

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>", x, y, anchor,
                     escape_html(text));
}

std::string begin_figure(const std::string& title, double height) {
  return fmt::format("<figure><h3>{0}</h3><svg viewBox='0 0 {1} {2}' role='img' aria-label='{0}'>",
                     escape_html(title), kWidth, height);
}

std::string axes(const Plot& plot, const PlotArea& frame) {
  std::string svg;
  for (double y = 0; y <= plot.y_max * 1.001; y += axis_step(plot.y_max)) {
    svg += fmt::format("<path class='grid' d='M{:.1f} {:.1f}H{:.1f}'/>", kLeft, frame.y(y),
                       kWidth - kRight);
    svg += label(kLeft - 6, frame.y(y) + 4, "end", y > 0 ? format_axis_label(y) : "0");
  }
  for (double x = 0; x <= plot.x_max * 1.001; x += std::max(1.0, axis_step(plot.x_max))) {
    svg += label(frame.x(x), kHeight - kBottom + 18, "middle", format_axis_label(x));
  }
  svg += fmt::format("<path class='axis' d='M{:.1f} {:.1f}V{:.1f}H{:.1f}'/>", kLeft, kTop,
                     kHeight - kBottom, kWidth - kRight);
  svg += label((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", plot.x_label);
  const double middle = (kTop + kHeight - kBottom) / 2;
  svg += fmt::format(
      "<text x='14' y='{0:.1f}' text-anchor='middle' transform='rotate(-90 14 {0:.1f})'>{1}</text>",
      middle, escape_html(plot.y_label));
  return svg;
}

std::string line_class(const PlotSeries& series) {
  if (series.style == PlotSeries::Style::dashed) return series.css_class + " dashed";
  return series.style == PlotSeries::Style::dotted ? series.css_class + " dotted"
                                                   : series.css_class;
}

std::string draw_series(const PlotSeries& series, const PlotArea& frame) {
  std::string svg;
  if (series.style == PlotSeries::Style::points) {
    for (const auto& [x, y] : series.points) {
      svg += fmt::format("<circle class='{}' cx='{:.1f}' cy='{:.1f}' r='5'/>", series.css_class,
                         frame.x(x), frame.y(y));
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
        escape_html(series.label));
  }
  return html + "</figcaption>";
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string to_svg(const Plot& plot) {
  const PlotArea frame{plot.x_max, plot.y_max};
  std::string svg = begin_figure(plot.title, kHeight) + axes(plot, frame);
  // The nested svg element clips everything outside the axes.
  svg += fmt::format("<svg x='{0}' y='0' width='{1}' height='{2}' viewBox='{0} 0 {1} {2}'>", kLeft,
                     kWidth - kLeft, kHeight - kBottom);
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

}  // namespace eckart::capacity
